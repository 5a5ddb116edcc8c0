// smemtune's C interface (C99): ask for the tuned kernel of a problem, launch it on a stream. docs/c.md is its manual.
//
//     smemtune_options options = SMEMTUNE_OPTIONS_INIT;
//     options.database = "tuning.db";
//     smemtune_runtime* runtime = NULL;
//     if (smemtune_open(&options, &runtime) != SMEMTUNE_OK) puts(smemtune_error_message());
//     smemtune_gemm(runtime, stream, "f32", "nn", m, n, k, 1.0, a, k, b, n, 0.0, c, n);
//     smemtune_close(runtime);
//
// Threads: every function may be called from any thread, and several threads may use one runtime or kernel at the same
// time. After smemtune_close or smemtune_release, no thread may use the handle.
// Text that a function returns is UTF-8, ends with 0, and belongs to the library.
#ifndef SMEMTUNE_SMEMTUNE_H
#define SMEMTUNE_SMEMTUNE_H

// NOLINTBEGIN(modernize-*): this is C
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this header. Before version 1.0, each minor version may change the interface, so each minor version
// has a SONAME of its own.
#define SMEMTUNE_VERSION_MAJOR 0
#define SMEMTUNE_VERSION_MINOR 1
#define SMEMTUNE_VERSION_PATCH 0
#define SMEMTUNE_VERSION (SMEMTUNE_VERSION_MAJOR * 10000 + SMEMTUNE_VERSION_MINOR * 100 + SMEMTUNE_VERSION_PATCH)
// Returns the SMEMTUNE_VERSION of the linked library.
int smemtune_version(void);

// ---- Errors ---------------------------------------------------------------------------------------------------------

typedef enum smemtune_status {
    SMEMTUNE_OK = 0,
    SMEMTUNE_INVALID_ARGUMENT = 1,  // a null pointer, an unknown flag, a stride that is too short, ...
    SMEMTUNE_INVALID_STRUCT = 2,    // struct_size is wrong, or the caller sets fields that this library lacks
    SMEMTUNE_NO_DEVICE = 3,         // there is no such GPU, or it cannot be used
    SMEMTUNE_NO_DATABASE = 4,       // the database does not exist
    SMEMTUNE_DATABASE_ERROR = 5,    // the database cannot be read
    SMEMTUNE_UNTRUSTED_FILE = 6,    // other users can change a database or template whose code would run
    SMEMTUNE_INVALID_TEMPLATE = 7,  // a template in options.template_folders is invalid
    SMEMTUNE_NO_KERNEL = 8,         // no template supports operation, type and layout, or none compiles and loads
    SMEMTUNE_LAUNCH_REFUSED = 9,    // the device refused the launch; the device can still be used
    SMEMTUNE_DEVICE_FAULT = 10,     // a kernel did something illegal; this process can no longer use the device
    SMEMTUNE_OUT_OF_MEMORY = 11,    // the host or the device has too little memory
    SMEMTUNE_INTERNAL_ERROR = 12    // any other error; smemtune_error_message() describes it
} smemtune_status;

// Describes a status in a few words. Never returns null.
const char* smemtune_status_text(smemtune_status status);
// Returns why the last failed call on the calling thread failed; "" if no call has failed. The text is valid until the
// next failure on this thread. The message belongs to the thread instead of a handle, because threads share handles,
// and a failed smemtune_open gives no handle.
const char* smemtune_error_message(void);

// ---- Runtime --------------------------------------------------------------------------------------------------------

// A device, its databases and the kernels that were fetched.
typedef struct smemtune_runtime smemtune_runtime;

typedef enum smemtune_log_level { SMEMTUNE_LOG_INFO = 1, SMEMTUNE_LOG_WARNING = 2 } smemtune_log_level;
// Called when a problem is fetched for the first time: with the choice (info), and with each better candidate that
// could not be used (warning). Also called when a database is left out (warning). Several threads may call the function
// at the same time. The function must not call smemtune, throw or longjmp.
typedef void (*smemtune_log_function)(void* user, smemtune_log_level level, const char* message);

// Flags of smemtune_options. docs/security.md explains the flags.
#define SMEMTUNE_DATABASE_MAY_BE_ABSENT UINT32_C(1)  // smemtune_open also succeeds if `database` does not exist
#define SMEMTUNE_ANY_OWNER UINT32_C(2)               // also read files that other users own or may write
#define SMEMTUNE_ANY_TEMPLATE_OWNER UINT32_C(4)      // like SMEMTUNE_ANY_OWNER, but only for template folders
#define SMEMTUNE_NO_MACHINE_CODE UINT32_C(8)         // do not load the database's machine code
#define SMEMTUNE_NO_STORED_TEMPLATES UINT32_C(16)    // do not use templates that only the database has
#define SMEMTUNE_NO_JIT UINT32_C(32)                 // do not compile at run time
#define SMEMTUNE_NO_HOST_CODE UINT32_C(64)           // do not open the host device

// A field that is null or 0 means its default. Later versions may append fields; struct_size tells the library which
// fields the caller has.
typedef struct smemtune_options {
    size_t struct_size;                   // sizeof(smemtune_options); SMEMTUNE_OPTIONS_INIT sets it
    const char* database;                 // path of the first database; null means no database
    const char* device;                   // "0", "1", ... for a GPU, "auto" (default) for the first, "host" for the CPU
    const char* const* template_folders;  // folders of the application's templates; a null pointer ends the list
    const char* host_compiler;            // C++ compiler for the host device; default "c++"
    uint32_t flags;
    size_t remembered_problems;  // limit (default 4096), above which the least recently fetched problems are forgotten
    smemtune_log_function log;
    void* log_user;             // first argument of `log`
    size_t measure_candidates;  // how many kernels are timed in an untuned problem's first launches; default 0
    double measure_lost_ms;     // limit, in ms, of the device time that is lost to slower kernels; default 1000
    // Databases that are searched after `database`, in this order. A null pointer ends the list. A database that is
    // absent, damaged, too new or not trusted is left out, and `log` is called.
    const char* const* databases;
    // A folder of databases (*.db) that are searched last. Unusable databases are left out, as in `databases`. The
    // default is the folder that is installed with smemtune; "" means no folder.
    const char* system_databases;
} smemtune_options;
#define SMEMTUNE_OPTIONS_INIT \
    { sizeof(smemtune_options), NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, 0, NULL, NULL }

// Opens a runtime. If `options` is null, every option has its default. On failure `*runtime` is null.
smemtune_status smemtune_open(const smemtune_options* options, smemtune_runtime** runtime);
// Closes a runtime. Null is allowed. Kernels that were fetched stay valid.
void smemtune_close(smemtune_runtime* runtime);

// ---- Matrix products ------------------------------------------------------------------------------------------------

// cudaStream_t and CUstream are the same pointer type, so both can be passed without a cast. Null means the default
// stream. The host device ignores the stream and computes before the call returns.
struct CUstream_st;
typedef struct CUstream_st* smemtune_stream;

// As a leading dimension, this value means that the rows have no padding. As a batch stride, it means that the matrices
// follow one another without a gap.
#define SMEMTUNE_PACKED (-1)

// C = alpha * op(A) * op(B) + beta * C, row-major, enqueued on `stream`. The runtime's GPU must be the current device
// of the calling thread. `type` is the type of the elements: "f32". smemtune_gemm also takes "f16", "bf16", "tf32"
// (floats, multiplied with 11 significant bits) and "3xtf32" (floats; about as precise as "f32", on tensor cores).
// `layout` is "nn", "nt", "tn" or "tt". A first letter t means that A is transposed (stored as K x M). A second letter
// t means that B is transposed (stored as N x K). op(A) is M x K, op(B) is K x N, C is M x N. The pointers are device
// addresses. Leading dimensions are in elements. If alpha is 0, A and B are not read. If beta is 0, C is not read.
//
// The first call with a problem chooses a kernel and loads or compiles it. Later calls take no lock, and allocate
// memory only at a thread's first call with the problem. Exception: a call whose kernel needs a workspace takes locks
// and may allocate memory.
smemtune_status smemtune_gemm(smemtune_runtime* runtime, smemtune_stream stream, const char* type, const char* layout,
                              int64_t m, int64_t n, int64_t k, double alpha, const void* a, int64_t lda, const void* b,
                              int64_t ldb, double beta, void* c, int64_t ldc);
// Like smemtune_gemm, for `batch` products of the same shape. A batch stride is the distance in elements between the
// starts of two consecutive matrices. With a batch stride of 0, all products read the same A or B. The matrices of C
// may interleave, but must not share elements.
smemtune_status smemtune_batched_gemm(smemtune_runtime* runtime, smemtune_stream stream, const char* type,
                                      const char* layout, int64_t batch, int64_t m, int64_t n, int64_t k, double alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, double beta, void* c, int64_t ldc, int64_t stride_c);

// ---- Kernels of any operation ---------------------------------------------------------------------------------------

typedef struct smemtune_extent {
    const char* name;  // such as "M"
    int64_t value;
} smemtune_extent;

#define SMEMTUNE_MAX_EXTENTS 16
// Later versions add no fields to this struct.
typedef struct smemtune_problem {
    const char* operation;  // such as "gemm"
    const char* type;       // null means "f32"
    const char* layout;     // such as "nn"; null for an operation without layouts
    // The extents in the operation's order. An extent whose name is null ends the list.
    smemtune_extent extents[SMEMTUNE_MAX_EXTENTS];
} smemtune_problem;

// These functions return the problems that smemtune_gemm and smemtune_batched_gemm compute.
smemtune_problem smemtune_gemm_problem(const char* type, const char* layout, int64_t m, int64_t n, int64_t k);
smemtune_problem smemtune_batched_gemm_problem(const char* type, const char* layout, int64_t batch, int64_t m,
                                               int64_t n, int64_t k);

// Chooses kernels for these problems and loads or compiles them, on as many threads as there are cores. Later calls
// with these problems then only launch. If a problem fails, returns its status; other problems may then remain
// unfetched.
smemtune_status smemtune_warm_up(smemtune_runtime* runtime, const smemtune_problem* problems, size_t count);

// A kernel that is ready to run on one problem. It may outlive its runtime.
typedef struct smemtune_kernel smemtune_kernel;

// Fetches the kernel of a problem. `kernel_template` (such as "tiled") restricts the choice to one template; null means
// any template. On failure `*kernel` is null.
smemtune_status smemtune_fetch(smemtune_runtime* runtime, const smemtune_problem* problem, const char* kernel_template,
                               smemtune_kernel** kernel);
// Releases a handle. Null is allowed. A kernel is unloaded when its last handle is released or when its runtime is
// closed, whichever comes later. The call that unloads it waits for running launches. Do not release a kernel during a
// stream capture, or while a graph with the kernel may still run.
void smemtune_release(smemtune_kernel* kernel);

// How well the chosen kernel matches problem and device. docs/design.md has the order of preference.
typedef enum smemtune_match {
    SMEMTUNE_MATCH_EXACT = 0,        // tuned for this problem on this kind of device
    SMEMTUNE_MATCH_PREDICTED = 1,    // the member of a portfolio that is predicted to be the fastest for this problem
    SMEMTUNE_MATCH_NEAREST = 2,      // the nearest problem's winner; or this problem's winner, if its code was replaced
    SMEMTUNE_MATCH_TRANSFERRED = 3,  // tuned on the most similar other device
    SMEMTUNE_MATCH_UNTUNED = 4       // a template's default configuration
} smemtune_match;
const char* smemtune_match_text(smemtune_match match);

// What was chosen for a problem. The texts are valid until the kernel's handle is released.
typedef struct smemtune_choice {
    size_t struct_size;  // sizeof(smemtune_choice), set by the caller
    const char* kernel_template;
    const char* configuration;  // such as "TILE_WIDTH=32"
    const char* tuned_for;      // the problem that the configuration was tuned for; "" when predicted or untuned
    const char* device;         // the device of the tuning; the runtime's own device when untuned
    // Why the kernel was chosen, if it is a portfolio's member or was timed in first launches. Otherwise "".
    const char* why;
    smemtune_match match;
    // A time in microseconds, of one of three kinds: measured for `tuned_for` on `device`; predicted for this problem;
    // or measured in a single launch of this problem (measure_candidates). On a GPU, the time of a single launch
    // includes 5 to 8 us of launch overhead. 0 when untuned.
    double expected_us;
    // If expected_us is predicted, an estimate of its relative error: about half of measured times lie between
    // expected_us / (1 + uncertainty) and expected_us * (1 + uncertainty). 0 if expected_us is not predicted.
    double uncertainty;
} smemtune_choice;
#define SMEMTUNE_CHOICE_INIT \
    { sizeof(smemtune_choice), NULL, NULL, NULL, NULL, NULL, SMEMTUNE_MATCH_UNTUNED, 0, 0 }
smemtune_status smemtune_kernel_choice(const smemtune_kernel* kernel, smemtune_choice* choice);

// Writes to `*bytes` the size of the kernel's workspace: device memory that launches need beside the operands. It is 0
// for most kernels. The library allocates one workspace for each stream.
smemtune_status smemtune_kernel_workspace(const smemtune_kernel* kernel, int64_t* bytes);

// Launch a fetched kernel of gemm or of batched_gemm. smemtune_gemm describes the arguments.
smemtune_status smemtune_launch_gemm(const smemtune_kernel* kernel, smemtune_stream stream, double alpha, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, double beta, void* c, int64_t ldc);
smemtune_status smemtune_launch_batched_gemm(const smemtune_kernel* kernel, smemtune_stream stream, double alpha,
                                             const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                             int64_t stride_b, double beta, void* c, int64_t ldc, int64_t stride_c);

typedef enum smemtune_argument_kind {
    SMEMTUNE_INTEGER = 1,  // an extent, a leading dimension, a batch stride, a scalar of an integer type
    SMEMTUNE_NUMBER = 2,   // a scalar of a floating-point type, such as alpha; `number` is converted to that type
    SMEMTUNE_ADDRESS = 3   // a matrix or an array on the device
} smemtune_argument_kind;
// A launch reads only the value that `kind` selects. Later versions add no fields to this struct.
typedef struct smemtune_argument {
    const char* name;  // the argument's name in the operation's manifest
    smemtune_argument_kind kind;
    int64_t integer;
    double number;
    const void* address;  // device address of an input or an output
} smemtune_argument;

// Describes the kernel's argument number `index`, counted from 0: its name, its kind and, for an extent, its value. All
// other fields become 0. Returns SMEMTUNE_INVALID_ARGUMENT if `index` is not less than the number of arguments.
smemtune_status smemtune_kernel_argument(const smemtune_kernel* kernel, size_t index, smemtune_argument* argument);
// Launches a kernel of any operation. `arguments` has each of the kernel's arguments once, in any order. The launch is
// fastest if `arguments` keeps the kernel's own order. Extents may be left out. A given extent must equal the problem's
// extent.
smemtune_status smemtune_launch(const smemtune_kernel* kernel, smemtune_stream stream,
                                const smemtune_argument* arguments, size_t count);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*)

#endif
