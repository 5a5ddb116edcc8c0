#include "runtime/c/status.h"

#include <new>

#include "db/store.h"
#include "runtime/backend.h"
#include "runtime/runtime.h"
#include "templates/manifest/catalog.h"

namespace smemtune {

namespace {

std::string& last_message() {
    thread_local std::string message;
    return message;
}

// The order of the catch clauses matters: derived classes before their bases.
smemtune_status rethrow_as_status(std::string& message) {
    const auto failed = [&](smemtune_status status, const std::exception& error) {
        message = error.what();
        return status;
    };
    try {
        throw;
    } catch (const CallError& error) {
        return failed(error.status(), error);
    } catch (const std::invalid_argument& error) {
        return failed(SMEMTUNE_INVALID_ARGUMENT, error);
    } catch (const DatabaseAbsent& error) {
        return failed(SMEMTUNE_NO_DATABASE, error);
    } catch (const StoreError& error) {
        return failed(SMEMTUNE_DATABASE_ERROR, error);
    } catch (const UntrustedFile& error) {
        return failed(SMEMTUNE_UNTRUSTED_FILE, error);
    } catch (const ManifestError& error) {
        return failed(SMEMTUNE_INVALID_TEMPLATE, error);
    } catch (const FetchError& error) {
        return failed(SMEMTUNE_NO_KERNEL, error);
    } catch (const LaunchError& error) {
        return failed(SMEMTUNE_LAUNCH_REFUSED, error);
    } catch (const DeviceFault& error) {
        return failed(SMEMTUNE_DEVICE_FAULT, error);
    } catch (const OutOfMemory& error) {
        return failed(SMEMTUNE_OUT_OF_MEMORY, error);
    } catch (const DeviceError& error) {
        return failed(SMEMTUNE_NO_DEVICE, error);
    } catch (const std::bad_alloc& error) {
        return failed(SMEMTUNE_OUT_OF_MEMORY, error);
    } catch (const std::exception& error) {
        return failed(SMEMTUNE_INTERNAL_ERROR, error);
    } catch (...) {
        message = "an exception of an unknown type";
        return SMEMTUNE_INTERNAL_ERROR;
    }
}

}  // namespace

smemtune_status status_of_current_exception() noexcept {
    try {
        return rethrow_as_status(last_message());
    } catch (...) {  // there is no memory for the message
        last_message().clear();
        return SMEMTUNE_OUT_OF_MEMORY;
    }
}

}  // namespace smemtune

int smemtune_version(void) { return SMEMTUNE_VERSION; }

const char* smemtune_error_message(void) { return smemtune::last_message().c_str(); }

const char* smemtune_status_text(smemtune_status status) {
    switch (status) {
        case SMEMTUNE_OK: return "ok";
        case SMEMTUNE_INVALID_ARGUMENT: return "invalid argument";
        case SMEMTUNE_INVALID_STRUCT: return "struct of another version";
        case SMEMTUNE_NO_DEVICE: return "no such device";
        case SMEMTUNE_NO_DATABASE: return "no such database";
        case SMEMTUNE_DATABASE_ERROR: return "unreadable database";
        case SMEMTUNE_UNTRUSTED_FILE: return "file that other users can change";
        case SMEMTUNE_INVALID_TEMPLATE: return "invalid template";
        case SMEMTUNE_NO_KERNEL: return "no kernel for the problem";
        case SMEMTUNE_LAUNCH_REFUSED: return "launch refused by the device";
        case SMEMTUNE_DEVICE_FAULT: return "device fault";
        case SMEMTUNE_OUT_OF_MEMORY: return "out of memory";
        case SMEMTUNE_INTERNAL_ERROR: return "internal error";
    }
    return "unknown status";
}
