#include "robot_rt_control/json.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace robot_rt_control {

namespace {

constexpr int kDepth = 64;

void append_utf8(std::string& text, std::uint32_t code)
{
    const auto byte = [&text](std::uint32_t value) { text.push_back(static_cast<char>(value)); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
}

}  // namespace

class JsonReader {
public:
    explicit JsonReader(const std::string& document) : document_(document) {}

    Json document()
    {
        Json value = this->value("", 0);
        space();
        if (here_ != document_.size()) fail("nothing after the value");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& expected) const
    {
        throw std::runtime_error("JSON, byte " + std::to_string(here_) + ": expected " + expected);
    }

    char peek() const { return here_ < document_.size() ? document_[here_] : '\0'; }

    void space()
    {
        while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++here_;
    }

    bool take(char wanted)
    {
        space();
        if (peek() != wanted) return false;
        ++here_;
        return true;
    }

    void word(const char* wanted)
    {
        const std::string text = wanted;
        if (document_.compare(here_, text.size(), text) != 0) fail(text);
        here_ += text.size();
    }

    Json value(const std::string& path, int depth)
    {
        if (depth > kDepth) fail("at most 64 levels");
        space();
        Json found;
        found.path_ = path;
        switch (peek()) {
            case '{': object(found, depth); break;
            case '[': list(found, depth); break;
            case '"': found.kind_ = Json::Kind::text, found.text_ = text(); break;
            case 't': word("true"), found.kind_ = Json::Kind::truth, found.truth_ = true; break;
            case 'f': word("false"), found.kind_ = Json::Kind::truth; break;
            case 'n': word("null"); break;
            default: found.kind_ = Json::Kind::number, found.number_ = number();
        }
        return found;
    }

    void object(Json& found, int depth)
    {
        found.kind_ = Json::Kind::object;
        ++here_;
        if (take('}')) return;
        do {
            space();
            if (peek() != '"') fail("a key");
            std::string key = text();
            if (!take(':')) fail("':'");
            const std::string path = found.path_.empty() ? key : found.path_ + "." + key;
            Json member = value(path, depth + 1);
            found.members_.emplace_back(std::move(key), std::move(member));
        } while (take(','));
        if (!take('}')) fail("'}'");
    }

    void list(Json& found, int depth)
    {
        found.kind_ = Json::Kind::list;
        ++here_;
        if (take(']')) return;
        do {
            found.list_.push_back(value(found.path_ + "[" + std::to_string(found.list_.size()) + "]", depth + 1));
        } while (take(','));
        if (!take(']')) fail("']'");
    }

    std::uint32_t four_digits()
    {
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = peek();
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                            : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            if (digit < 0) fail("four hexadecimal digits");
            code = code << 4 | static_cast<std::uint32_t>(digit);
            ++here_;
        }
        return code;
    }

    std::string text()
    {
        std::string found;
        for (++here_; peek() != '"'; ) {
            if (here_ >= document_.size() || static_cast<unsigned char>(peek()) < 0x20) fail("the end of a text");
            if (peek() != '\\') {
                found.push_back(document_[here_++]);
                continue;
            }
            ++here_;
            const char escaped = peek();
            ++here_;
            switch (escaped) {
                case '"': case '\\': case '/': found.push_back(escaped); break;
                case 'b': found.push_back('\b'); break;
                case 'f': found.push_back('\f'); break;
                case 'n': found.push_back('\n'); break;
                case 'r': found.push_back('\r'); break;
                case 't': found.push_back('\t'); break;
                case 'u': append_utf8(found, code_point()); break;
                default: fail("an escape");
            }
        }
        ++here_;
        return found;
    }

    std::uint32_t code_point()
    {
        const std::uint32_t first = four_digits();
        if (first < 0xD800 || first > 0xDFFF) return first;
        if (first > 0xDBFF || peek() != '\\') fail("a pair of surrogates");
        ++here_;
        if (peek() != 'u') fail("a pair of surrogates");
        ++here_;
        const std::uint32_t second = four_digits();
        if (second < 0xDC00 || second > 0xDFFF) fail("a pair of surrogates");
        return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }

    double number()
    {
        const std::size_t begin = here_;
        const auto digits = [this] {
            if (peek() < '0' || peek() > '9') fail("a value");
            while (peek() >= '0' && peek() <= '9') ++here_;
        };
        if (peek() == '-') ++here_;
        digits();
        if (peek() == '.') ++here_, digits();
        if (peek() == 'e' || peek() == 'E') {
            ++here_;
            if (peek() == '+' || peek() == '-') ++here_;
            digits();
        }
        const std::string spelled = document_.substr(begin, here_ - begin);
        char* end = nullptr;
        const double found = std::strtod(spelled.c_str(), &end);
        if (!std::isfinite(found)) fail("a finite number before it");
        // The locale is "C" unless a program sets another one, which this library does not.
        if (*end != '\0') fail("the locale \"C\" while it is read: call setlocale later");
        return found;
    }

    const std::string& document_;
    std::size_t here_ = 0;
};

Json Json::parse(const std::string& document) { return JsonReader(document).document(); }

void Json::require(Kind kind, const char* expected) const
{
    if (kind_ != kind) throw std::runtime_error("'" + path_ + "': expected " + expected);
}

bool Json::truth() const { return require(Kind::truth, "true or false"), truth_; }

double Json::number() const { return require(Kind::number, "a number"), number_; }

std::size_t Json::index() const
{
    const double value = number();
    if (!(value >= 0.0 && value < 1e15) || value != std::floor(value)) {
        throw std::runtime_error("'" + path_ + "': expected a whole number from 0 on");
    }
    return static_cast<std::size_t>(value);
}

const std::string& Json::text() const { return require(Kind::text, "a text"), text_; }

const std::vector<Json>& Json::list() const { return require(Kind::list, "a list"), list_; }

std::vector<std::string> Json::texts() const
{
    std::vector<std::string> found;
    for (const Json& item : list()) found.push_back(item.text());
    return found;
}

const std::vector<std::pair<std::string, Json>>& Json::members() const
{
    return require(Kind::object, "an object"), members_;
}

const Json* Json::find(const std::string& key) const
{
    for (const auto& [name, value] : members()) {
        if (name == key) return &value;
    }
    return nullptr;
}

const Json& Json::at(const std::string& key) const
{
    if (const Json* found = find(key)) return *found;
    throw std::runtime_error((path_.empty() ? "" : "'" + path_ + "': ") + "expected a key '" + key + "'");
}

double Json::number(const std::string& key, double if_null) const
{
    const Json& found = at(key);
    return found.is_null() ? if_null : found.number();
}

}  // namespace robot_rt_control
