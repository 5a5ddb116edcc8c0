/* Computes two matrix products and a transposition through smemtune's C interface, in C99.
 *
 *     gemm DEVICE [DATABASE]        DEVICE: 0, 1, ... for a GPU, or host
 */
#include <smemtune/smemtune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The application allocates its own memory: on the host, or on a GPU if it was built with the CUDA Toolkit. */
#ifdef WITH_CUDA
#include <cuda_runtime_api.h>
#endif
static int on_gpu = 0;

static void stop(const char* what, const char* why) {
    fprintf(stderr, "gemm: %s: %s\n", what, why);
    exit(1);
}

static void check(smemtune_status status, const char* what) {
    if (status != SMEMTUNE_OK) {
        fprintf(stderr, "gemm: %s\n", smemtune_status_text(status));
        stop(what, smemtune_error_message());
    }
}

static void make_current(const char* device) {
    on_gpu = strcmp(device, "host") != 0;
#ifdef WITH_CUDA
    if (on_gpu) {
        const cudaError_t result = cudaSetDevice(atoi(device));
        if (result != cudaSuccess) stop("cudaSetDevice", cudaGetErrorString(result));
    }
#else
    if (on_gpu) stop(device, "built without the CUDA Toolkit; use host");
#endif
}

/* Returns new memory on the device with a copy of `count` elements. */
static float* to_device(const float* values, size_t count) {
    const size_t bytes = count * sizeof(float);
    float* memory = NULL;
#ifdef WITH_CUDA
    if (on_gpu) {
        if (cudaMalloc((void**)&memory, bytes) != cudaSuccess) stop("cudaMalloc", "out of memory");
        if (cudaMemcpy(memory, values, bytes, cudaMemcpyHostToDevice) != cudaSuccess) stop("cudaMemcpy", "failed");
        return memory;
    }
#endif
    memory = malloc(bytes);
    if (memory == NULL) stop("malloc", "out of memory");
    memcpy(memory, values, bytes);
    return memory;
}

/* Waits for all work on the default stream, copies `memory` to `values`, and frees `memory`. */
static void from_device(float* memory, float* values, size_t count) {
#ifdef WITH_CUDA
    if (on_gpu) {
        const cudaError_t result = cudaMemcpy(values, memory, count * sizeof(float), cudaMemcpyDeviceToHost);
        if (result != cudaSuccess) stop("cudaMemcpy", cudaGetErrorString(result));
        cudaFree(memory);
        return;
    }
#endif
    memcpy(values, memory, count * sizeof(float));
    free(memory);
}

enum { M = 65, N = 70, K = 48 };
static float a[M * K], b[K * N], c[M * N], turned[N * M];

/* Fills `matrix` with small integers. Their products are exact, so that a right result equals the expected one. */
static void fill(float* matrix, size_t count, unsigned seed) {
    size_t i;
    for (i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        matrix[i] = (float)((int)(seed >> 24) % 9 - 4);
    }
}

static int is_right(float alpha, float scale_before, float before) {
    int row, column, i;
    for (row = 0; row < M; ++row) {
        for (column = 0; column < N; ++column) {
            float sum = 0;
            for (i = 0; i < K; ++i) sum += a[row * K + i] * b[i * N + column];
            if (!(c[row * N + column] == alpha * sum + scale_before * before)) return 0;
        }
    }
    return 1;
}

/* Multiplies in one call. The call remembers the kernel, so that the next call with these sizes only launches it. */
static int multiply(smemtune_runtime* runtime) {
    float* device_a = to_device(a, M * K);
    float* device_b = to_device(b, K * N);
    float* device_c;
    int i;
    for (i = 0; i < M * N; ++i) c[i] = 5;
    device_c = to_device(c, M * N);
    check(smemtune_gemm(runtime, NULL, "f32", "nn", M, N, K, 2.0, device_a, K, device_b, N, -3.0, device_c, N),
          "smemtune_gemm");
    from_device(device_a, a, M * K);
    from_device(device_b, b, K * N);
    from_device(device_c, c, M * N);
    return is_right(2, -3, 5);
}

/* Multiplies in two steps: fetches a kernel and prints what was chosen, then launches it without another look-up. */
static int fetch_and_multiply(smemtune_runtime* runtime) {
    const smemtune_problem problem = smemtune_gemm_problem("f32", "nn", M, N, K);
    smemtune_choice choice = SMEMTUNE_CHOICE_INIT;
    smemtune_kernel* kernel = NULL;
    int64_t workspace = 0;
    float *device_a, *device_b, *device_c;
    check(smemtune_fetch(runtime, &problem, NULL, &kernel), "smemtune_fetch");
    check(smemtune_kernel_choice(kernel, &choice), "smemtune_kernel_choice");
    check(smemtune_kernel_workspace(kernel, &workspace), "smemtune_kernel_workspace");
    printf("%dx%dx%d: %s %s, %s%s%s, workspace of %ld bytes\n", M, N, K, choice.kernel_template, choice.configuration,
           smemtune_match_text(choice.match), choice.tuned_for[0] == '\0' ? "" : ", tuned for ", choice.tuned_for,
           (long)workspace);
    device_a = to_device(a, M * K);
    device_b = to_device(b, K * N);
    device_c = to_device(c, M * N);
    check(smemtune_launch_gemm(kernel, NULL, 1.0, device_a, SMEMTUNE_PACKED, device_b, SMEMTUNE_PACKED, 0.0, device_c,
                               SMEMTUNE_PACKED),
          "smemtune_launch_gemm");
    from_device(device_a, a, M * K);
    from_device(device_b, b, K * N);
    from_device(device_c, c, M * N);
    smemtune_release(kernel);
    return is_right(1, 0, 0);
}

/* Transposes. Operations other than gemm are called like this; their manifests name extents and arguments. */
static int transpose(smemtune_runtime* runtime) {
    const smemtune_problem problem = {"transpose", "f32", NULL, {{"M", M}, {"N", N}}};
    smemtune_kernel* kernel = NULL;
    smemtune_argument arguments[4] = {{"A", SMEMTUNE_ADDRESS, 0, 0, NULL},
                                      {"lda", SMEMTUNE_INTEGER, N, 0, NULL},
                                      {"B", SMEMTUNE_ADDRESS, 0, 0, NULL},
                                      {"ldb", SMEMTUNE_INTEGER, M, 0, NULL}};
    float* from = to_device(c, M * N);
    float* to = to_device(turned, N * M);
    int row, column;
    check(smemtune_fetch(runtime, &problem, NULL, &kernel), "smemtune_fetch");
    arguments[0].address = from;
    arguments[2].address = to;
    check(smemtune_launch(kernel, NULL, arguments, 4), "smemtune_launch");
    from_device(from, c, M * N);
    from_device(to, turned, N * M);
    smemtune_release(kernel);
    for (row = 0; row < M; ++row)
        for (column = 0; column < N; ++column)
            if (!(turned[column * M + row] == c[row * N + column])) return 0;
    return 1;
}

static void log_line(void* user, smemtune_log_level level, const char* message) {
    (void)user;
    printf("%s: %s\n", level == SMEMTUNE_LOG_WARNING ? "warning" : "info", message);
}

int main(int argc, char** argv) {
    smemtune_options options = SMEMTUNE_OPTIONS_INIT;
    smemtune_runtime* runtime = NULL;
    int failed = 0;
    if (argc != 2 && argc != 3) {
        fputs("usage: gemm DEVICE [DATABASE]\n", stderr);
        return 2;
    }
    if (smemtune_version() / 100 != SMEMTUNE_VERSION / 100) stop("smemtune", "header and library differ in version");
    make_current(argv[1]);
    options.device = argv[1];
    options.database = argc == 3 ? argv[2] : NULL;
    options.log = log_line;
    check(smemtune_open(&options, &runtime), "smemtune_open");

    fill(a, M * K, 1);
    fill(b, K * N, 2);
    failed += !multiply(runtime);
    printf("in one call: %s\n", failed == 0 ? "right" : "WRONG");
    failed += !fetch_and_multiply(runtime);
    printf("in two steps: %s\n", failed == 0 ? "right" : "WRONG");
    failed += !transpose(runtime);
    printf("transposed: %s\n", failed == 0 ? "right" : "WRONG");
    smemtune_close(runtime);
    return failed == 0 ? 0 : 1;
}
