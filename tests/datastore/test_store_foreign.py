import json

import pytest

from datastore.errors import ForeignError
from datastore.foreign import forget_file, keep_results, list_results
from datastore.foreign_benches import read_benches
from datastore.opening import open_store
from datastore.rebuild import rebuild

MNN = {
    "model": "Qwen3-ASR-0.6B", "modelSize": 0.41, "backend": "CPU", "threads": 4, "useMmap": False, "precision": 2,
    "memory": 2, "power": 0, "quantAttention": 0,
    "results": [
        {"type": "prefill", "prompt_len": 512, "tps": 210.5, "std": 1.5, "loading_time": 0.8, "loading_time_std": 0.1},
        {"type": "decode", "generate_len": 128, "tps": 42.25, "std": 0.5},
    ],
}  # fmt: skip
LLAMA = {
    "build_commit": "abc", "cpu_info": "Cortex-X4", "gpu_info": "", "backends": "CPU", "model_filename": "m.gguf",
    "model_type": "qwen3 0.6B Q4_0", "n_threads": 6, "n_prompt": 0, "n_gen": 64, "avg_ns": 10, "stddev_ns": 1,
    "avg_ts": 31.5, "stddev_ts": 0.25, "samples_ns": [10, 11], "samples_ts": [31.4, 31.6],
}  # fmt: skip


def read(*parts):
    text = "".join(part if isinstance(part, str) else json.dumps(part) for part in parts)
    return read_benches(text.encode(), "bench.json")


def test_llm_bench_gives_a_row_a_test_with_its_settings():
    prefill, decode = read(MNN).results
    assert (prefill.test, prefill.prompt_tokens, prefill.tps, prefill.sd_tps) == ("prefill", 512, 210.5, 1.5)
    assert (decode.test, decode.generated_tokens, decode.tps, decode.threads) == ("decode", 128, 42.25, 4)
    assert (decode.settings["precision"], decode.settings["power"]) == ("low", "normal")
    assert decode.samples is None


def test_llama_bench_is_read_as_array_and_as_lines():
    other = LLAMA | {"n_prompt": 512, "n_gen": 0}
    for found in (read([LLAMA, other]), read(LLAMA, "\n", other, "\n")):
        decode, prefill = found.results
        assert (decode.test, decode.tps, decode.samples, decode.device) == ("decode", 31.5, 2, "Cortex-X4")
        assert (prefill.test, prefill.prompt_tokens, prefill.generated_tokens) == ("prefill", 512, None)
        assert found.notes == ()


def test_log_lines_around_the_json_are_passed_over_and_counted():
    found = read("CPU Group: [ 0 1 ], 300000\nload {config}\n", MNN, "\nbye\n")
    assert len(found.results) == 2
    assert any("without results" in note for note in found.notes)


def test_several_runs_in_one_file_are_kept_and_said():
    found = read(MNN, "\n", MNN | {"threads": 2})
    assert [item.threads for item in found.results] == [4, 4, 2, 2]
    assert any("2 runs of llm_bench" in note for note in found.notes)


def test_rows_of_a_sweep_that_cannot_be_told_apart_say_so():
    found = read(MNN | {"results": MNN["results"] * 2})
    assert len(found.results) == 4
    assert all("Which is which cannot be told." in item.notes[-1] for item in found.results)


@pytest.mark.parametrize("written", ["inf", "-inf", "nan", "NaN", "Infinity", "-nan(ind)", ""])
def test_a_rate_that_is_no_number_is_missing_not_zero(written):
    found = read(json.dumps(MNN).replace("42.25", written))
    decode = found.results[1]
    assert decode.tps is None
    assert "no usable rate" in decode.notes[-1]
    assert any("infinite, NaN or missing" in note for note in found.notes)


@pytest.mark.parametrize("written", ["1e999", "9" * 400, "-3", "true", '"42.25"'])
def test_what_no_rate_can_be_is_missing_too(written):
    assert read(json.dumps(MNN).replace("42.25", written)).results[1].tps is None


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_a_shell_of_windows_redirects_reads_the_same(encoding):
    assert read_benches(json.dumps(MNN).encode(encoding), "bench.json") == read(MNN)


def test_a_missing_spread_is_missing():
    assert read(LLAMA | {"stddev_ts": None}).results[0].sd_tps is None


def test_an_early_stop_that_inflates_a_rate_is_warned_of():
    assert "stopped early" in read(MNN).results[1].notes[0]


def test_unsteady_rates_say_so():
    assert "differ by 20 %" in read(LLAMA | {"avg_ts": 10.0, "stddev_ts": 2.0}).results[0].notes[-1]


def test_one_rate_over_prompt_and_output_is_called_neither():
    item = read(LLAMA | {"n_prompt": 16}).results[0]
    assert item.test == "both"
    assert "neither of prefill nor of decoding" in item.notes[0]


def test_prefill_and_decode_of_one_test_are_two_rows():
    both = {"type": "prefill_and_decode", "prompt_len": 64, "generate_len": 32}
    both |= {"prefill_tps": 100.0, "prefill_std": 1.0, "decode_tps": 20.0, "decode_std": 0.1}
    assert [(item.test, item.tps) for item in read(MNN | {"results": [both]}).results] == [
        ("prefill", 100.0),
        ("decode", 20.0),
    ]


def test_a_result_that_is_cut_off_is_left_out_and_said():
    found = read(LLAMA, "\n", json.dumps(LLAMA)[:90])
    assert len(found.results) == 1
    assert any("in the middle of a result" in note for note in found.notes)


@pytest.mark.parametrize("data", [b"", b"hello", b"{}", b"[1, 2]", b'{"results": []}', b"\xff\xfe{", b"[" * 100_000])
def test_a_file_without_results_is_a_sentence(data):
    with pytest.raises(ForeignError, match="holds no result"):
        read_benches(data, "bench.json")


def test_a_file_too_large_is_refused():
    with pytest.raises(ForeignError, match="at most 20"):
        read_benches(b" " * 20_000_001, "x")


def test_results_are_kept_once_with_everything_and_survive_a_rebuild(folder, store):
    results = read(MNN, LLAMA).results
    assert keep_results(store, "bench.json", "sha", results)
    assert not keep_results(store, "again.json", "sha", results)
    store.close()
    rebuild(folder)
    with open_store(folder) as again:
        assert tuple(item.result for item in list_results(again)) == results
        forget_file(again, "sha")
        assert list_results(again) == []
