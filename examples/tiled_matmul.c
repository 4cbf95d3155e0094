/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float matrix product with both tiles in one dynamically sized array. The width of the tile is not compiled in: it
 * is chosen when the program runs, from the device's registers, threads and shared memory, through gp_occupancy().
 * cc tiled_matmul.c $(pkg-config --cflags --libs gpuprim)                                     processor
 * nvcc -DWITH_NVCC -x cu tiled_matmul.cu -x c tiled_matmul.c $(pkg-config --cflags --libs gpuprim)   and GPU
 */
#define PROGRAM "tiled_matmul"
#include "tiled_matmul.h"
#include "example.h"
#include "tile_width.h"

typedef struct matrices {
    size_t rows, inner, cols;
    float *a, *b, *c; /* rows x inner, inner x cols, rows x cols */
} matrices;

/* What a GPU's blocks do one beside the other, one after the other: the same tiles, filled and multiplied alike. */
static void multiply_on_processor(const matrices *m, unsigned width) {
    float *const tiles = host_alloc(2 * (size_t)width * width, sizeof *tiles), *Mds = tiles,
                 *Nds = tiles + width * width;
    memset(m->c, 0, m->rows * m->cols * sizeof *m->c);
    for (size_t row = 0; row < m->rows; row += width)
        for (size_t col = 0; col < m->cols; col += width)
            for (size_t at = 0; at < m->inner; at += width) {
                for (size_t y = 0; y < width; ++y)
                    for (size_t x = 0; x < width; ++x) {
                        const int in_a = row + y < m->rows && at + x < m->inner;
                        const int in_b = at + y < m->inner && col + x < m->cols;
                        Mds[y * width + x] = in_a ? m->a[(row + y) * m->inner + at + x] : 0;
                        Nds[y * width + x] = in_b ? m->b[(at + y) * m->cols + col + x] : 0;
                    }
                for (size_t y = 0; y < width && row + y < m->rows; ++y)
                    for (size_t k = 0; k < width; ++k)
                        for (size_t x = 0; x < width && col + x < m->cols; ++x)
                            m->c[(row + y) * m->cols + col + x] += Mds[y * width + k] * Nds[k * width + x];
            }
    free(tiles);
}

/* The elements are whole numbers up to 8 and inner is at most 4096, so every sum is exact: 4096 * 64 < 2^24. */
static void check(const matrices *m) {
    for (size_t row = 0; row < m->rows; ++row)
        for (size_t col = 0; col < m->cols; ++col) {
            float sum = 0;
            for (size_t k = 0; k < m->inner; ++k)
                sum += m->a[row * m->inner + k] * m->b[k * m->cols + col];
            if (sum != m->c[row * m->cols + col])
                fail("the product is wrong at row %zu, column %zu", row, col);
        }
}

static void report(const matrices *m, const char *where, unsigned width, double seconds) {
    check(m);
    printf("%zu x %zu x %zu on %s, tile %u: %.3f ms, %.2f GFLOP/s, equal to the plain product\n\n", m->rows, m->inner,
           m->cols, where, width, 1e3 * seconds,
           2e-9 * (double)m->rows * (double)m->inner * (double)m->cols / seconds);
}

#ifdef WITH_NVCC
static void multiply_on_gpu(gp_context *context, const gp_device_info *device, const matrices *m) {
    const char *message;
    const unsigned regs = matmul_registers(&message), width = regs ? choose_width(device, regs) : 0;
    if (!width)
        fail("%s", regs ? "no tile fits this device" : message);
    const size_t bytes[] = {m->rows * m->inner * sizeof(float), m->inner * m->cols * sizeof(float),
                            m->rows * m->cols * sizeof(float)};
    float *a = device_alloc(context, bytes[0]), *b = device_alloc(context, bytes[1]),
          *c = device_alloc(context, bytes[2]);
    must(gp_copy(context, a, m->a, bytes[0]));
    must(gp_copy(context, b, m->b, bytes[1]));
    double start = 0;
    for (int run = 0; run < 2; ++run) { /* the first warms up */
        must(gp_context_synchronize(context));
        start = seconds_now();
        if ((message = matmul_launch(a, b, c, m->rows, m->inner, m->cols, width)))
            fail("%s", message);
    }
    must(gp_context_synchronize(context));
    const double seconds = seconds_now() - start;
    must(gp_copy(context, m->c, c, bytes[2]));
    report(m, device->name, width, seconds);
    must(gp_free(context, a));
    must(gp_free(context, b));
    must(gp_free(context, c));
}
#else
static void multiply_on_gpu(gp_context *context, const gp_device_info *device, const matrices *m) {
    (void)context, (void)m;
    printf("%s is there, but this program was built without nvcc\n\n", device->name);
}
#endif

int main(int argc, char **argv) {
    size_t size[3] = {500, 300, 400};
    if (argc != 1 && argc != 4)
        usage("[ROWS INNER COLS]");
    for (int i = 1; i < argc; ++i)
        if ((size[i - 1] = strtoul(argv[i], NULL, 10)) - 1 > 4095)
            usage("[ROWS INNER COLS], each 1 to 4096");
    matrices m = {.rows = size[0], .inner = size[1], .cols = size[2]};
    m.a = host_alloc(m.rows * m.inner, sizeof *m.a);
    m.b = host_alloc(m.inner * m.cols, sizeof *m.b);
    m.c = host_alloc(m.rows * m.cols, sizeof *m.c);
    for (size_t i = 0; i < m.rows * m.inner; ++i)
        m.a[i] = (float)(i * 7 % 17) - 8;
    for (size_t i = 0; i < m.inner * m.cols; ++i)
        m.b[i] = (float)(i * 5 % 13) - 6;

    gp_context *context = open_context(NULL);
    gp_device_info found = {.struct_size = sizeof found};
    must(gp_context_device(context, &found));
    if (found.backend == GP_BACKEND_CUDA)
        multiply_on_gpu(context, &found, &m);
    else
        printf("no GPU: %s\n\n", found.no_gpu_reason);

    /* Device D runs 1536 threads at no more than 10 registers each. The second has a Hopper SM's resources. */
    static const gp_device_info made_up[] = {
        {sizeof(gp_device_info), .name = "device D (made up)", .threads_per_sm = 1536, .blocks_per_sm = 8,
         .regs_per_sm = 16384, .smem_per_sm = 16384},
        {sizeof(gp_device_info), .name = "compute capability 9.0 (made up)", .threads_per_sm = 2048,
         .blocks_per_sm = 32, .regs_per_sm = 65536, .reg_unit = 256, .sm_partitions = 4, .smem_per_block = 49152,
         .smem_per_block_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024, .smem_unit = 128}};
    static const unsigned regs[] = {10, 32};
    for (int i = 0; i < 2; ++i) {
        const unsigned width = choose_width(&made_up[i], regs[i]);
        const double start = seconds_now();
        multiply_on_processor(&m, width);
        report(&m, "the processor", width, seconds_now() - start);
    }
    gp_context_destroy(context);
    free(m.a);
    free(m.b);
    free(m.c);
    return close_output();
}
