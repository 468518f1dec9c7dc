// Reads a JSON document (RFC 8259) of a known writer: strict, without extensions.
#ifndef ROBOT_RT_CONTROL__JSON_HPP_
#define ROBOT_RT_CONTROL__JSON_HPP_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace robot_rt_control {

class Json {
public:
    enum class Kind { null, truth, number, text, list, object };

    // The value of a document. Throws std::runtime_error with the place of what is wrong.
    static Json parse(const std::string& document);

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::null; }

    // A value of the wanted kind, else std::runtime_error that names `path`.
    bool truth() const;
    double number() const;
    std::size_t index() const;  // a whole number from 0 on
    const std::string& text() const;
    const std::vector<Json>& list() const;
    std::vector<std::string> texts() const;
    const std::vector<std::pair<std::string, Json>>& members() const;

    // A member of an object. Throws std::runtime_error if it is missing.
    const Json& at(const std::string& key) const;
    // The same, or nullptr.
    const Json* find(const std::string& key) const;
    // The number of a member, or another one if it is null.
    double number(const std::string& key, double if_null) const;

private:
    friend class JsonReader;
    void require(Kind kind, const char* expected) const;

    Kind kind_ = Kind::null;
    std::string path_;  // such as joints[2].name
    bool truth_ = false;
    double number_ = 0.0;
    std::string text_;
    std::vector<Json> list_;
    std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__JSON_HPP_
