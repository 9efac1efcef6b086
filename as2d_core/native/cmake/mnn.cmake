# Finds an MNN build below MNN_ROOT and makes it the target as2d_mnn. Every part that is missing is said by name.
#
# MNN_ROOT is what `cmake --install` of MNN writes (include/, lib/), or a folder with include/ and the libraries in lib/,
# build/ or beside it. One library that holds everything and separate ones (MNN_Express, llm, MNN_CL, ...) both do.

# What is compiled for another machine is brought there as one file.
if(CMAKE_CROSSCOMPILING)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
set(_mnn_places "${MNN_ROOT}" "${MNN_ROOT}/lib" "${MNN_ROOT}/lib64" "${MNN_ROOT}/build")

find_path(MNN_INCLUDE_DIR MNN/MNNDefine.h PATHS "${MNN_ROOT}/include" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT MNN_INCLUDE_DIR)
  message(FATAL_ERROR "MNN_ROOT (${MNN_ROOT}) holds no MNN: include/MNN/MNNDefine.h is missing.")
endif()
find_path(MNN_LLM_INCLUDE_DIR llm/llm.hpp
  PATHS "${MNN_ROOT}/include" "${MNN_ROOT}/transformers/llm/engine/include" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT MNN_LLM_INCLUDE_DIR)
  message(FATAL_ERROR "The MNN at ${MNN_ROOT} was built without its LLM part: llm/llm.hpp is missing.")
endif()

add_library(as2d_mnn INTERFACE)
target_include_directories(as2d_mnn SYSTEM INTERFACE "${MNN_INCLUDE_DIR}" "${MNN_LLM_INCLUDE_DIR}")

find_library(MNN_LIBRARY NAMES MNN PATHS ${_mnn_places} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT MNN_LIBRARY)
  message(FATAL_ERROR "The MNN at ${MNN_ROOT} holds no library MNN; build it there first.")
endif()
set(_mnn_libraries "")
foreach(_part llm MNN_Express MNNAudio MNNOpenCV MNN_CL)
  find_library(MNN_${_part}_LIBRARY NAMES ${_part} PATHS ${_mnn_places} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(MNN_${_part}_LIBRARY)
    list(APPEND _mnn_libraries "${MNN_${_part}_LIBRARY}")
  endif()
endforeach()
list(APPEND _mnn_libraries "${MNN_LIBRARY}")

if(MNN_LIBRARY MATCHES "\\.a$")
  # Backends register themselves in static objects that nothing refers to.
  target_link_libraries(as2d_mnn INTERFACE -Wl,--whole-archive ${_mnn_libraries} -Wl,--no-whole-archive ${CMAKE_DL_LIBS})
else()
  target_link_libraries(as2d_mnn INTERFACE ${_mnn_libraries})
endif()
if(AS2D_OPENCL)
  target_compile_definitions(as2d_mnn INTERFACE AS2D_OPENCL)
endif()
if(ANDROID)
  target_link_libraries(as2d_mnn INTERFACE log m android)
endif()
