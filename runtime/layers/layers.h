// The databases of a Runtime, in the order in which they are searched: the user's, the application's, the system's.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/predict/predictor.h"
#include "runtime/runtime.h"

namespace smemtune {

/// The folder of the databases that are installed with smemtune.
std::filesystem::path installed_databases();

/// The databases of a Runtime. Only one thread at a time may use the object.
class Layers {
public:
    using Warn = std::function<void(const std::string& message)>;

    Layers(Trust trust, Warn warn) : trust_(trust), warn_(std::move(warn)) {}

    /// Adds a database that must be usable, and opens it now. Throws StoreError, UntrustedFile. Each time this object
    /// opens a database, it also calls `warn` if the database has portfolios that are not used, because their time
    /// models are of another version.
    void add_required(const std::filesystem::path& file);
    /// Adds a database that is opened at its first use. If it is absent, damaged, not trusted, or of a schema that is
    /// too new, `warn` is called once, and the database is left out from then on.
    void add(const std::filesystem::path& file);
    /// Adds each `.db` file of a folder, in the order of their names. If the folder does not exist, adds nothing.
    void add_folder(const std::filesystem::path& folder);

    [[nodiscard]] std::size_t count() const { return layers_.size(); }
    [[nodiscard]] const std::filesystem::path& file(std::size_t layer) const { return layers_[layer]->file; }
    [[nodiscard]] PredictorCache& predictors(std::size_t layer) { return layers_[layer]->predictors; }

    /// Returns work(store) for the layer's Store, or a default value if the layer cannot be used. Passes on DamagedRow
    /// from `work`, because a damaged row does not make the whole database unusable.
    template <class Work>
    auto use(std::size_t number, const Work& work) -> decltype(work(std::declval<Store&>())) {
        auto& layer = *layers_[number];
        if (layer.is_required) return work(*layer.store);
        if (layer.is_set_aside) return {};
        try {
            if (!layer.store) layer.store.emplace(open(layer.file));
            return work(*layer.store);
        } catch (const DamagedRow&) {
            throw;
        } catch (const StoreError& error) {
            set_aside(number, error.what());
        } catch (const UntrustedFile& error) {
            set_aside(number, error.what());
        }
        return {};
    }
    [[nodiscard]] bool is_required(std::size_t layer) const { return layers_[layer]->is_required; }
    /// Leaves out a layer from now on, and warns. The layer must not be required.
    void set_aside(std::size_t layer, const std::string& why);

private:
    struct Layer {
        std::filesystem::path file;
        bool is_required = false;
        bool is_set_aside = false;
        std::optional<Store> store{};
        PredictorCache predictors{};
    };

    Layer& append(const std::filesystem::path& file);
    [[nodiscard]] Store open(const std::filesystem::path& file) const;

    Trust trust_;
    Warn warn_;
    std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace smemtune
