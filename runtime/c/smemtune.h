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
// time. Only smemtune_close and smemtune_release must be the last use of their handle.
// Text that a function returns is UTF-8, ends with 0, and belongs to the library.
#ifndef SMEMTUNE_SMEMTUNE_H
#define SMEMTUNE_SMEMTUNE_H

// NOLINTBEGIN(modernize-*): this is C
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this header. Before 1.0, a new minor version may change the interface, and changes the SONAME.
#define SMEMTUNE_VERSION_MAJOR 0
#define SMEMTUNE_VERSION_MINOR 1
#define SMEMTUNE_VERSION_PATCH 0
#define SMEMTUNE_VERSION (SMEMTUNE_VERSION_MAJOR * 10000 + SMEMTUNE_VERSION_MINOR * 100 + SMEMTUNE_VERSION_PATCH)
// SMEMTUNE_VERSION of the library that is linked.
int smemtune_version(void);

// ---- Errors ---------------------------------------------------------------------------------------------------------

typedef enum smemtune_status {
    SMEMTUNE_OK = 0,
    SMEMTUNE_INVALID_ARGUMENT = 1,  // a null pointer, an unknown flag, a stride that is too short, ...
    SMEMTUNE_INVALID_STRUCT = 2,    // struct_size is wrong, or asks for more than this version of the library has
    SMEMTUNE_NO_DEVICE = 3,         // there is no such GPU, or it cannot be used
    SMEMTUNE_NO_DATABASE = 4,       // the database does not exist
    SMEMTUNE_DATABASE_ERROR = 5,    // the database cannot be read
    SMEMTUNE_UNTRUSTED_FILE = 6,    // other users can change a database or template that would be run
    SMEMTUNE_INVALID_TEMPLATE = 7,  // a folder of options.template_folders has an error
    SMEMTUNE_NO_KERNEL = 8,         // no template supports operation, type and layout, or none compiles and loads
    SMEMTUNE_LAUNCH_REFUSED = 9,    // the device refused the launch; it can still be used
    SMEMTUNE_DEVICE_FAULT = 10,     // a kernel did something illegal; this process can no longer use the device
    SMEMTUNE_OUT_OF_MEMORY = 11,    // of the host or the device
    SMEMTUNE_INTERNAL_ERROR = 12    // anything else; the message says what
} smemtune_status;

// Describes a status in a few words. Never null.
const char* smemtune_status_text(smemtune_status status);
// The reason of the last failed call on the calling thread; "" if none has failed. Valid until the next failure on this
// thread. Messages belong to threads, not to handles, because threads share handles, and a failed open has no handle.
const char* smemtune_error_message(void);

// ---- Runtime --------------------------------------------------------------------------------------------------------

// A device, the databases and the kernels that were fetched.
typedef struct smemtune_runtime smemtune_runtime;

typedef enum smemtune_log_level { SMEMTUNE_LOG_INFO = 1, SMEMTUNE_LOG_WARNING = 2 } smemtune_log_level;
// Called when a problem is fetched for the first time: with the choice (info), and with each better candidate that
// could not be used (warning). Several threads may call it at once. It must not call smemtune, throw or longjmp.
typedef void (*smemtune_log_function)(void* user, smemtune_log_level level, const char* message);

// Flags of smemtune_options. docs/security.md explains those about trust.
#define SMEMTUNE_DATABASE_MAY_BE_ABSENT UINT32_C(1)  // a database that does not exist is the same as none
#define SMEMTUNE_ANY_OWNER UINT32_C(2)               // also read files that other users own or may write
#define SMEMTUNE_ANY_TEMPLATE_OWNER UINT32_C(4)      // also read such template folders, but no such database
#define SMEMTUNE_NO_MACHINE_CODE UINT32_C(8)         // do not load the database's machine code
#define SMEMTUNE_NO_STORED_TEMPLATES UINT32_C(16)    // do not use templates that only the database has
#define SMEMTUNE_NO_JIT UINT32_C(32)                 // do not compile at run time
#define SMEMTUNE_NO_HOST_CODE UINT32_C(64)           // do not open the host device

// A null pointer or 0 stands for the default. Fields may be appended in later versions; struct_size says which exist.
typedef struct smemtune_options {
    size_t struct_size;                   // sizeof(smemtune_options); SMEMTUNE_OPTIONS_INIT sets it
    const char* database;                 // null: none
    const char* device;                   // "0", "1", ...: a GPU; "auto", the default: the first; "host": the CPU
    const char* const* template_folders;  // the application's kernels, with a null pointer behind the last folder
    const char* host_compiler;            // for the host device; default "c++"
    uint32_t flags;
    size_t remembered_problems;  // default 4096; beyond that, the least recently fetched are forgotten
    smemtune_log_function log;
    void* log_user;             // first argument of `log`
    size_t measure_candidates;  // kernels that the first calls of an untuned problem time; default: none
    double measure_lost_ms;     // total device time that slower kernels may cost then; default 1000
    // Databases that are searched after `database`, in this order, with a null pointer behind the last. One that is
    // absent, damaged, too new or not trusted is left out, and `log` is called.
    const char* const* databases;
    // A folder of databases (*.db) that are searched last, under the same rule. Default: the one that is installed with
    // smemtune. "": none.
    const char* system_databases;
} smemtune_options;
#define SMEMTUNE_OPTIONS_INIT \
    { sizeof(smemtune_options), NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, 0, NULL, NULL }

// `options` may be null. On failure `*runtime` is null.
smemtune_status smemtune_open(const smemtune_options* options, smemtune_runtime** runtime);
// Null is allowed. Kernels that were fetched stay valid.
void smemtune_close(smemtune_runtime* runtime);

// ---- Matrix products ------------------------------------------------------------------------------------------------

// cudaStream_t and CUstream point to this, so both can be passed as they are. Null is the default stream. The host
// device ignores it and computes before the call returns.
struct CUstream_st;
typedef struct CUstream_st* smemtune_stream;

// As a leading dimension: rows are packed. As a batch stride: matrices are packed.
#define SMEMTUNE_PACKED (-1)

// C = alpha * op(A) * op(B) + beta * C, row-major, enqueued on `stream` of the runtime's GPU, which must be current.
// `type` is the type of the elements: "f32", or for smemtune_gemm also "f16", "bf16", "tf32" (floats, of which the
// products take 11 bits) and "3xtf32" (floats; about as precise as "f32", on tensor cores). `layout` is "nn", "nt",
// "tn" or "tt": its first letter says whether A is transposed (stored as K x M), its second whether B is (stored as N x
// K). op(A) is M x K, op(B) is K x N, C is M x N. The pointers are device addresses; leading dimensions are in
// elements. With alpha = 0, A and B are not read; with beta = 0, C is not.
//
// The first call with a problem chooses a kernel and loads or compiles it. Later ones take no lock and allocate
// nothing, unless the kernel needs a workspace.
smemtune_status smemtune_gemm(smemtune_runtime* runtime, smemtune_stream stream, const char* type, const char* layout,
                              int64_t m, int64_t n, int64_t k, double alpha, const void* a, int64_t lda, const void* b,
                              int64_t ldb, double beta, void* c, int64_t ldc);
// The same for `batch` products. A batch stride is the distance between two matrices, in elements. With 0 all products
// read the same A or B. The matrices of C may interleave, but must not share elements.
smemtune_status smemtune_batched_gemm(smemtune_runtime* runtime, smemtune_stream stream, const char* type,
                                      const char* layout, int64_t batch, int64_t m, int64_t n, int64_t k, double alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, double beta, void* c, int64_t ldc, int64_t stride_c);

// ---- Kernels of any operation ---------------------------------------------------------------------------------------

typedef struct smemtune_extent {
    const char* name;  // "M"
    int64_t value;
} smemtune_extent;

#define SMEMTUNE_MAX_EXTENTS 16
// This struct never grows.
typedef struct smemtune_problem {
    const char* operation;  // "gemm"
    const char* type;       // null: "f32"
    const char* layout;     // "nn"; null for an operation without layouts
    // In the operation's order. A null name ends them.
    smemtune_extent extents[SMEMTUNE_MAX_EXTENTS];
} smemtune_problem;

// The problems of smemtune_gemm and smemtune_batched_gemm.
smemtune_problem smemtune_gemm_problem(const char* type, const char* layout, int64_t m, int64_t n, int64_t k);
smemtune_problem smemtune_batched_gemm_problem(const char* type, const char* layout, int64_t batch, int64_t m,
                                               int64_t n, int64_t k);

// Chooses, loads and compiles ahead of time, on as many threads as there are cores, so that later calls with these
// problems only launch. Fails with the first problem that fails; later ones may then not be fetched.
smemtune_status smemtune_warm_up(smemtune_runtime* runtime, const smemtune_problem* problems, size_t count);

// A kernel that is ready to run on one problem. It may outlive its runtime.
typedef struct smemtune_kernel smemtune_kernel;

// `kernel_template` ("tiled") restricts the choice to that template; null considers all. On failure `*kernel` is null.
smemtune_status smemtune_fetch(smemtune_runtime* runtime, const smemtune_problem* problem, const char* kernel_template,
                               smemtune_kernel** kernel);
// Null is allowed. A kernel is unloaded when its runtime and all its handles are gone; the last release or close waits
// for its launches. Do not release during a stream capture, nor while a graph with the kernel may still run.
void smemtune_release(smemtune_kernel* kernel);

// How well the chosen kernel matches problem and device. The best match first.
typedef enum smemtune_match {
    SMEMTUNE_MATCH_EXACT = 0,        // tuned for this problem on this kind of device
    SMEMTUNE_MATCH_PREDICTED = 1,    // the fastest of a portfolio, as predicted for this problem
    SMEMTUNE_MATCH_NEAREST = 2,      // tuned for the closest other problem
    SMEMTUNE_MATCH_TRANSFERRED = 3,  // tuned on the most similar other device
    SMEMTUNE_MATCH_UNTUNED = 4       // a template's default
} smemtune_match;
const char* smemtune_match_text(smemtune_match match);

// The texts are valid as long as the kernel's handle.
typedef struct smemtune_choice {
    size_t struct_size;  // sizeof(smemtune_choice), set by the caller
    const char* kernel_template;
    const char* configuration;  // "TILE_WIDTH=32"
    const char* tuned_for;      // the problem that it was tuned for; "" when predicted or untuned
    const char* device;         // where it was tuned; this device when untuned
    const char* why;            // of a prediction: what its time consists of
    smemtune_match match;
    double expected_us;  // measured where it was tuned, or predicted for this problem; 0 when untuned
    double uncertainty;  // of a prediction: two of three are within a factor of 1 + this of the measured time
} smemtune_choice;
#define SMEMTUNE_CHOICE_INIT \
    { sizeof(smemtune_choice), NULL, NULL, NULL, NULL, NULL, SMEMTUNE_MATCH_UNTUNED, 0, 0 }
smemtune_status smemtune_kernel_choice(const smemtune_kernel* kernel, smemtune_choice* choice);

// Bytes of device memory that launches need beside the operands; 0 for most kernels. The library allocates them, one
// workspace for each stream.
smemtune_status smemtune_kernel_workspace(const smemtune_kernel* kernel, int64_t* bytes);

// For kernels of gemm and of batched_gemm; see smemtune_gemm.
smemtune_status smemtune_launch_gemm(const smemtune_kernel* kernel, smemtune_stream stream, double alpha, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, double beta, void* c, int64_t ldc);
smemtune_status smemtune_launch_batched_gemm(const smemtune_kernel* kernel, smemtune_stream stream, double alpha,
                                             const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                             int64_t stride_b, double beta, void* c, int64_t ldc, int64_t stride_c);

typedef enum smemtune_argument_kind {
    SMEMTUNE_INTEGER = 1,  // an extent, a leading dimension, a batch stride, a scalar of an integer type
    SMEMTUNE_NUMBER = 2,   // a scalar of a floating type, such as alpha; converted to its type
    SMEMTUNE_ADDRESS = 3   // a matrix or an array on the device
} smemtune_argument_kind;
// Only the value that `kind` selects is read. This struct never grows.
typedef struct smemtune_argument {
    const char* name;  // as in the operation's manifest
    smemtune_argument_kind kind;
    int64_t integer;
    double number;
    const void* address;  // of an input or an output
} smemtune_argument;

// The kernel's argument number `index`, counted from 0; SMEMTUNE_INVALID_ARGUMENT past the last one. The value of an
// extent is the problem's; other values are 0.
smemtune_status smemtune_kernel_argument(const smemtune_kernel* kernel, size_t index, smemtune_argument* argument);
// For any operation: every argument once, in any order (the kernel's order is the fastest). Extents may be left out;
// those that are given must equal the extents of the problem.
smemtune_status smemtune_launch(const smemtune_kernel* kernel, smemtune_stream stream,
                                const smemtune_argument* arguments, size_t count);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*)

#endif
