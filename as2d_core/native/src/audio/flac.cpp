// A decoder of FLAC (RFC 9639). Checksums of every frame are checked; the one of the whole file is not.
#include <algorithm>
#include <array>

#include "audio/file.hpp"
#include "errors.hpp"

namespace as2d {
namespace {

using Sample = std::int64_t;

constexpr std::size_t stream_info_bytes = 34;
constexpr std::size_t most_flac_channels = 8;

[[noreturn]] void damaged() {
    throw AudioError("is a damaged FLAC file; copy or export it again.");
}

[[noreturn]] void cut() {
    throw AudioError("breaks off; it is cut or damaged, so copy or export it again.");
}

/// Bits of a byte string, the highest first.
class Bits {
public:
    Bits(std::string_view bytes, std::size_t at) : bytes_(bytes), next_(at) {}

    std::uint64_t read(unsigned count) {
        std::uint64_t value = 0;
        while (count > 0) {
            if (held_ == 0) fill();
            const unsigned taken = std::min(count, held_);
            held_ -= taken;
            value = value << taken | ((byte_ >> held_) & ((1U << taken) - 1));
            count -= taken;
        }
        return value;
    }

    /// A number with a sign in its highest bit. `count` is 0 to 33; no bits are 0.
    Sample read_signed(unsigned count) {
        if (count == 0) return 0;
        const std::uint64_t value = read(count);
        const std::uint64_t sign = std::uint64_t{1} << (count - 1);
        return static_cast<Sample>(value ^ sign) - static_cast<Sample>(sign);
    }

    /// Zeros before the next one.
    std::uint64_t unary() {
        std::uint64_t zeros = 0;
        for (;; ++zeros) {
            if (held_ == 0) fill();
            --held_;
            if (((byte_ >> held_) & 1U) != 0) return zeros;
        }
    }

    void align() { held_ = 0; }
    /// The next byte that is not begun.
    std::size_t position() const { return next_; }

private:
    void fill() {
        if (next_ >= bytes_.size()) cut();
        byte_ = static_cast<std::uint8_t>(bytes_[next_++]);
        held_ = 8;
    }

    std::string_view bytes_;
    std::size_t next_;
    unsigned byte_ = 0;
    unsigned held_ = 0;
};

/// A checksum of `width` bits over bytes; the generating polynomial without its highest term.
template <typename Word, Word polynomial>
Word checksum(std::string_view bytes) {
    constexpr unsigned width = sizeof(Word) * 8;
    static const auto table = [] {
        std::array<Word, 256> out{};
        for (unsigned i = 0; i < 256; ++i) {
            unsigned value = i << (width - 8);
            for (int bit = 0; bit < 8; ++bit) {
                value = (value >> (width - 1)) & 1U ? (value << 1) ^ polynomial : value << 1;
            }
            out[i] = static_cast<Word>(value);
        }
        return out;
    }();
    unsigned value = 0;
    for (const char c : bytes) {
        value = (value << 8) ^ table[((value >> (width - 8)) ^ static_cast<std::uint8_t>(c)) & 0xFFU];
        value &= (1U << width) - 1;
    }
    return static_cast<Word>(value);
}

/// Samples must fit into their bits: whatever damage says, no sum overflows.
void check_fits(Sample value, unsigned bits) {
    const Sample limit = Sample{1} << (bits - 1);
    if (value < -limit || value >= limit) damaged();
}

/// Adds the coded residual to the prediction `predict(i)` of each sample from `order` on.
template <typename Predict>
void decode_residual(Bits& bits, std::vector<Sample>& out, std::size_t order, unsigned sample_bits, Predict predict) {
    const std::uint64_t method = bits.read(2);
    if (method > 1) damaged();
    const unsigned parameter_bits = method == 0 ? 4 : 5;
    const std::size_t partitions = std::size_t{1} << bits.read(4);
    const std::size_t each = out.size() / partitions;
    if (each * partitions != out.size() || each < order) damaged();
    std::size_t i = order;
    for (std::size_t partition = 1; partition <= partitions; ++partition) {
        const auto parameter = static_cast<unsigned>(bits.read(parameter_bits));
        const bool escaped = parameter == (1U << parameter_bits) - 1;
        const auto plain_bits = escaped ? static_cast<unsigned>(bits.read(5)) : 0U;
        for (; i < partition * each; ++i) {
            Sample residual = 0;
            if (escaped) {
                residual = bits.read_signed(plain_bits);
            } else {
                const std::uint64_t high = bits.unary();
                const std::uint64_t folded = high << parameter | bits.read(parameter);
                if (high >> 32 != 0 || folded >> 34 != 0) damaged();
                residual = (folded & 1U) != 0 ? -static_cast<Sample>(folded >> 1) - 1 : static_cast<Sample>(folded >> 1);
            }
            out[i] = predict(i) + residual;
            check_fits(out[i], sample_bits);
        }
    }
}

void decode_fixed(Bits& bits, std::vector<Sample>& out, std::size_t order, unsigned sample_bits) {
    const Sample* y = out.data();
    const auto with = [&](auto predict) { decode_residual(bits, out, order, sample_bits, predict); };
    switch (order) {
        case 0: with([](std::size_t) { return Sample{0}; }); break;
        case 1: with([y](std::size_t i) { return y[i - 1]; }); break;
        case 2: with([y](std::size_t i) { return 2 * y[i - 1] - y[i - 2]; }); break;
        case 3: with([y](std::size_t i) { return 3 * (y[i - 1] - y[i - 2]) + y[i - 3]; }); break;
        default: with([y](std::size_t i) { return 4 * (y[i - 1] + y[i - 3]) - 6 * y[i - 2] - y[i - 4]; });
    }
}

void decode_linear(Bits& bits, std::vector<Sample>& out, std::size_t order, unsigned sample_bits) {
    const auto precision = static_cast<unsigned>(bits.read(4)) + 1;
    const Sample shift = bits.read_signed(5);
    if (precision == 16 || shift < 0) damaged();
    std::array<Sample, 32> coefficients{};
    for (std::size_t k = 0; k < order; ++k) coefficients[k] = bits.read_signed(precision);
    decode_residual(bits, out, order, sample_bits, [&](std::size_t i) {
        // At most 32 products of 15 and 33 bits.
        Sample sum = 0;
        for (std::size_t k = 0; k < order; ++k) sum += coefficients[k] * out[i - 1 - k];
        return sum >> shift;
    });
}

/// One channel of a frame. `sample_bits` is 4 to 33.
void decode_subframe(Bits& bits, std::vector<Sample>& out, unsigned sample_bits) {
    if (bits.read(1) != 0) damaged();
    const auto kind = static_cast<std::size_t>(bits.read(6));
    unsigned wasted = 0;
    if (bits.read(1) != 0) {
        const std::uint64_t zeros = bits.unary() + 1;
        if (zeros >= sample_bits) damaged();
        wasted = static_cast<unsigned>(zeros);
        sample_bits -= wasted;
    }
    const auto order = kind >= 32 ? kind - 31 : kind >= 8 ? kind - 8 : 0;
    if (kind >= 8 && (order > out.size() || (kind < 32 && order > 4))) damaged();
    const auto read_first = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) out[i] = bits.read_signed(sample_bits);
    };
    if (kind == 0) {
        std::fill(out.begin(), out.end(), bits.read_signed(sample_bits));
    } else if (kind == 1) {
        read_first(out.size());
    } else if (kind >= 32) {
        read_first(order);
        decode_linear(bits, out, order, sample_bits);
    } else if (kind >= 8) {
        read_first(order);
        decode_fixed(bits, out, order, sample_bits);
    } else {
        damaged();
    }
    if (wasted > 0) {
        for (Sample& value : out) value *= Sample{1} << wasted;
    }
}

class Flac : public AudioFile {
public:
    explicit Flac(std::string_view bytes) : bytes_(bytes) { read_metadata(); }

    AudioFormat format() const override { return {rate_, channels_, frames_}; }

    std::vector<float> mono(std::uint64_t first, std::uint64_t count) const override {
        std::vector<float> out;
        std::vector<std::vector<Sample>> block(channels_);
        std::array<float, most_flac_channels> frame{};
        const float scale = 1.0F / static_cast<float>(std::uint64_t{1} << (bits_ - 1));
        std::size_t at = frames_at_;
        for (std::uint64_t position = 0; position < first + count;) {
            at = decode_frame(at, block);
            for (std::size_t i = 0; i < block[0].size(); ++i, ++position) {
                if (position < first || position >= first + count) continue;
                for (std::size_t c = 0; c < channels_; ++c) frame[c] = static_cast<float>(block[c][i]) * scale;
                out.push_back(mean_of(frame.data(), channels_));
            }
        }
        return out;
    }

private:
    void read_metadata() {
        std::size_t at = 0;
        if (bytes_.substr(0, 3) == "ID3") {  // a tag that some programs write before everything else
            Bits tag(bytes_, 6);
            std::size_t size = 0;
            for (int i = 0; i < 4; ++i) size = size << 7 | static_cast<std::size_t>(tag.read(8) & 0x7F);
            at = 10 + size;
        }
        if (at > bytes_.size() || bytes_.substr(at, 4) != "fLaC") damaged();
        at += 4;
        for (bool last = false; !last;) {
            Bits header(bytes_, at);
            last = header.read(1) != 0;
            const std::uint64_t kind = header.read(7);
            const auto size = static_cast<std::size_t>(header.read(24));
            at += 4;
            if (size > bytes_.size() - at) cut();
            if (kind == 0 && size >= stream_info_bytes) read_stream_info(at);
            at += size;
        }
        frames_at_ = at;
        if (channels_ == 0) damaged();
        if (frames_ == 0) throw AudioError("does not say how long it is; open it in an audio program and save it.");
    }

    void read_stream_info(std::size_t at) {
        Bits bits(bytes_, at + 10);  // behind the sizes of blocks and frames
        rate_ = static_cast<std::uint32_t>(bits.read(20));
        channels_ = static_cast<std::size_t>(bits.read(3)) + 1;
        bits_ = static_cast<unsigned>(bits.read(5)) + 1;
        frames_ = bits.read(36);
        if (rate_ == 0 || bits_ < 4) damaged();
    }

    /// Decodes the frame at a byte; returns where the next one begins.
    std::size_t decode_frame(std::size_t at, std::vector<std::vector<Sample>>& block) const {
        if (at >= bytes_.size()) cut();
        Bits bits(bytes_, at);
        if (bits.read(15) != 0x7FFC) damaged();
        bits.read(1);  // whether blocks have one size: nothing here depends on it
        const auto size_code = static_cast<unsigned>(bits.read(4));
        const auto rate_code = static_cast<unsigned>(bits.read(4));
        const auto channel_code = static_cast<std::size_t>(bits.read(4));
        const auto bits_code = static_cast<unsigned>(bits.read(3));
        if (bits.read(1) != 0) damaged();
        skip_number(bits);
        const std::size_t size = block_size(bits, size_code);
        check_rate(bits, rate_code);
        constexpr std::array<unsigned, 8> known_bits{0, 8, 12, 0, 16, 20, 24, 32};
        const bool same_bits = bits_code == 0 || known_bits[bits_code] == bits_;
        const bool stereo = channel_code >= 8;
        if (!same_bits || channel_code > 10 || (stereo ? 2 : channel_code + 1) != channels_) damaged();
        const std::size_t header_end = bits.position();
        const std::string_view header = bytes_.substr(at, header_end - at);
        if (bits.read(8) != checksum<std::uint8_t, 0x07>(header)) damaged();
        for (std::size_t c = 0; c < channels_; ++c) {
            block[c].resize(size);
            const bool is_side = (channel_code == 8 && c == 1) || (channel_code == 9 && c == 0) ||
                                 (channel_code == 10 && c == 1);
            decode_subframe(bits, block[c], bits_ + (is_side ? 1 : 0));
        }
        bits.align();
        const std::size_t end = bits.position();
        const std::uint64_t sum = bits.read(16);
        if (sum != checksum<std::uint16_t, 0x8005>(bytes_.substr(at, end - at))) damaged();
        if (stereo) restore_stereo(channel_code, block);
        return end + 2;
    }

    /// The number of the frame or its first sample, as long as UTF-8 would write it.
    static void skip_number(Bits& bits) {
        auto first = static_cast<unsigned>(bits.read(8));
        if (first < 0x80) return;
        if (first < 0xC0 || first == 0xFF) damaged();
        for (first <<= 1; (first & 0x80) != 0; first <<= 1) {
            if (bits.read(8) >> 6 != 2) damaged();
        }
    }

    static std::size_t block_size(Bits& bits, unsigned code) {
        if (code == 0) damaged();
        if (code == 1) return 192;
        if (code <= 5) return std::size_t{144} << code;
        if (code == 6) return static_cast<std::size_t>(bits.read(8)) + 1;
        if (code == 7) return static_cast<std::size_t>(bits.read(16)) + 1;
        return std::size_t{1} << code;
    }

    void check_rate(Bits& bits, unsigned code) const {
        constexpr std::array<std::uint32_t, 12> known{0,      88'200, 176'400, 192'000, 8'000,  16'000,
                                                      22'050, 24'000, 32'000,  44'100,  48'000, 96'000};
        std::uint64_t rate = rate_;
        if (code == 15) damaged();
        if (code > 0 && code < 12) rate = known[code];
        if (code == 12) rate = bits.read(8) * 1000;
        if (code == 13) rate = bits.read(16);
        if (code == 14) rate = bits.read(16) * 10;
        if (rate != rate_) damaged();
    }

    void restore_stereo(std::size_t code, std::vector<std::vector<Sample>>& block) const {
        for (std::size_t i = 0; i < block[0].size(); ++i) {
            Sample& left = block[0][i];
            Sample& right = block[1][i];
            if (code == 8) {
                right = left - right;
            } else if (code == 9) {
                left += right;
            } else {
                const Sample side = right;
                const Sample middle = left * 2 + (side & 1);
                left = (middle + side) / 2;
                right = (middle - side) / 2;
            }
            check_fits(left, bits_);
            check_fits(right, bits_);
        }
    }

    std::string_view bytes_;
    std::uint32_t rate_ = 0;
    std::size_t channels_ = 0;
    unsigned bits_ = 0;
    std::uint64_t frames_ = 0;
    std::size_t frames_at_ = 0;
};

}  // namespace

std::unique_ptr<AudioFile> open_flac(std::string_view bytes) {
    return std::make_unique<Flac>(bytes);
}

}  // namespace as2d
