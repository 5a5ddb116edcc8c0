/* Computes E = (A B) D as a CUDA graph: captures two products once and launches the graph many times. C99, on a GPU.
 *
 *     graph DEVICE [DATABASE]        DEVICE: 0, 1, ...
 *
 * The exit code is 77 if there is no GPU.
 */
#include <cuda_runtime_api.h>
#include <smemtune/smemtune.h>
#include <stdio.h>
#include <stdlib.h>

static void check(smemtune_status status) {
    if (status == SMEMTUNE_OK) return;
    fprintf(stderr, "graph: %s: %s\n", smemtune_status_text(status), smemtune_error_message());
    exit(1);
}

static void check_cuda(cudaError_t result) {
    if (result == cudaSuccess) return;
    fprintf(stderr, "graph: CUDA: %s\n", cudaGetErrorString(result));
    exit(1);
}

enum { M = 96, N = 80, K = 72, P = 64, LAUNCHES = 100 };
static float a[M * K], b[K * N], d[N * P], product[M * N], e[M * P], expected[M * P];

static void fill(float* matrix, size_t count, unsigned seed) {
    size_t i;
    for (i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        matrix[i] = (float)((int)(seed >> 24) % 5 - 2); /* small integers, so that the products are exact */
    }
}

static void multiply_on_host(const float* left, const float* right, float* result, int m, int n, int k) {
    int row, column, i;
    for (row = 0; row < m; ++row) {
        for (column = 0; column < n; ++column) {
            float sum = 0;
            for (i = 0; i < k; ++i) sum += left[row * k + i] * right[i * n + column];
            result[row * n + column] = sum;
        }
    }
}

static float* on_device(const float* values, size_t bytes) {
    float* memory = NULL;
    check_cuda(cudaMalloc((void**)&memory, bytes));
    if (values != NULL) check_cuda(cudaMemcpy(memory, values, bytes, cudaMemcpyHostToDevice));
    return memory;
}

int main(int argc, char** argv) {
    smemtune_options options = SMEMTUNE_OPTIONS_INIT;
    smemtune_runtime* runtime = NULL;
    smemtune_problem problems[2];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    float *device_a, *device_b, *device_d, *device_product, *device_e;
    size_t nodes = 0;
    int count = 0, i, wrong = 0;

    if (argc != 2 && argc != 3) {
        fputs("usage: graph DEVICE [DATABASE]\n", stderr);
        return 2;
    }
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        puts("graph: there is no GPU here, so nothing was captured and nothing was checked");
        return 77;
    }
    check_cuda(cudaSetDevice(atoi(argv[1])));
    options.device = argv[1];
    options.database = argc == 3 ? argv[2] : NULL;
    check(smemtune_open(&options, &runtime));

    /* Chooses kernels and loads or compiles them now, so that the capture only records launches. */
    problems[0] = smemtune_gemm_problem("f32", "nn", M, N, K);
    problems[1] = smemtune_gemm_problem("f32", "nn", M, P, N);
    check(smemtune_warm_up(runtime, problems, 2));

    fill(a, M * K, 1);
    fill(b, K * N, 2);
    fill(d, N * P, 3);
    device_a = on_device(a, sizeof a);
    device_b = on_device(b, sizeof b);
    device_d = on_device(d, sizeof d);
    device_product = on_device(NULL, sizeof product);
    device_e = on_device(NULL, sizeof e);

    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(smemtune_gemm(runtime, stream, "f32", "nn", M, N, K, 1.0, device_a, K, device_b, N, 0.0, device_product, N));
    check(smemtune_gemm(runtime, stream, "f32", "nn", M, P, N, 1.0, device_product, N, device_d, P, 0.0, device_e, P));
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphGetNodes(graph, NULL, &nodes));
    check_cuda(cudaGraphInstantiateWithFlags(&executable, graph, 0));

    /* Each launch gets new values in the same memory, because the graph has recorded the addresses. */
    for (i = 0; i < LAUNCHES && !wrong; ++i) {
        int at;
        a[i] = 2;
        multiply_on_host(a, b, product, M, N, K);
        multiply_on_host(product, d, expected, M, P, N);
        check_cuda(cudaMemcpyAsync(device_a, a, sizeof a, cudaMemcpyHostToDevice, stream));
        check_cuda(cudaGraphLaunch(executable, stream));
        check_cuda(cudaMemcpyAsync(e, device_e, sizeof e, cudaMemcpyDeviceToHost, stream));
        check_cuda(cudaStreamSynchronize(stream));
        for (at = 0; at < M * P; ++at) wrong += !(e[at] == expected[at]);
    }
    printf("a graph of %lu nodes, launched %d times: %s\n", (unsigned long)nodes, i, wrong ? "WRONG" : "right");

    check_cuda(cudaGraphExecDestroy(executable));
    check_cuda(cudaGraphDestroy(graph));
    check_cuda(cudaStreamDestroy(stream));
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_d);
    cudaFree(device_product);
    cudaFree(device_e);
    smemtune_close(runtime); /* closed after the graph, which uses the runtime's kernels */
    return wrong ? 1 : 0;
}
