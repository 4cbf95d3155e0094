/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading through libpng's plain interface: its simplified one misreads interlaced 16-bit pictures in the release
 * that Debian 12 has. Writing through the simplified one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fdopen */
#endif
#include "png_io.h"
#include <errno.h>
#include <png.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool refuse(char *message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, PICTURE_MESSAGE, format, arguments);
    va_end(arguments);
    return false;
}

/* The error pointer that png_create_read_struct() was given is the place for the text. */
static void keep_error(png_structp png, png_const_charp text) {
    refuse(png_get_error_ptr(png), "%s", text);
    longjmp(png_jmpbuf(png), 1);
}

static void ignore_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

/*
 * libpng's errors come back through setjmp; what is allocated hangs on out and rows, for the caller to free. Rows
 * NULL: only the size is read.
 */
static bool read_pixels(FILE *file, png_structp png, png_infop info, picture *out, png_bytep **rows) {
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, file);
    png_set_sig_bytes(png, 8);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    out->rows = png_get_image_height(png, info);
    out->cols = png_get_image_width(png, info);
    out->channels = png_get_channels(png, info);
    if (!rows)
        return true;
    const size_t row_bytes = out->cols * out->channels;
    if (row_bytes > UINT32_MAX / out->rows)
        png_error(png, "the picture is larger than 4 GiB");
    out->pixel = malloc(out->rows * row_bytes);
    *rows = malloc(out->rows * sizeof **rows);
    if (!out->pixel || !*rows)
        png_error(png, "no memory for the picture");
    for (size_t y = 0; y < out->rows; ++y)
        (*rows)[y] = out->pixel + y * row_bytes;
    png_read_image(png, *rows);
    png_read_end(png, NULL); /* a file cut off behind the last pixel is refused too */
    return true;
}

/* Luma of ITU-R BT.601 in integers (the weights add up to 256), then over white; in place. */
static void make_grey(picture *p) {
    const size_t n = p->channels;
    for (size_t i = 0; i < p->rows * p->cols; ++i) {
        const unsigned char *in = p->pixel + i * n;
        const unsigned grey = n < 3 ? in[0] : (77u * in[0] + 150u * in[1] + 29u * in[2] + 128) / 256;
        const unsigned alpha = n % 2 == 0 ? in[n - 1] : 255;
        p->pixel[i] = (unsigned char)((grey * alpha + 255 * (255 - alpha) + 127) / 255);
    }
    p->channels = 1;
}

static bool decode(FILE *file, const char *path, bool head, picture *out, char *message) {
    unsigned char signature[8];
    char text[PICTURE_MESSAGE] = "no memory";
    png_bytep *rows = NULL;
    png_infop info = NULL;
    const size_t got = fread(signature, 1, 8, file);
    if (ferror(file))
        return refuse(message, "%s: %s", path, strerror(errno));
    if (got < 8 || png_sig_cmp(signature, 0, 8) != 0)
        return refuse(message, "%s: not a PNG file: no PNG signature at byte 0", path);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, text, keep_error, ignore_warning);
    if (png)
        info = png_create_info_struct(png);
    const bool good = info && read_pixels(file, png, info, out, head ? NULL : &rows);
    png_destroy_read_struct(&png, &info, NULL);
    free(rows);
    if (good)
        return true;
    free(out->pixel);
    out->pixel = NULL;
    if (feof(file))
        return refuse(message, "%s: truncated: it ends at byte %ld", path, ftell(file));
    return refuse(message, "%s: %s, before byte %ld", path, text, ftell(file));
}

static bool open_and_decode(const char *path, bool head, picture *out, char *message) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return refuse(message, "%s: %s", path, strerror(errno));
    *out = (picture){0};
    const bool good = decode(file, path, head, out, message);
    fclose(file);
    return good;
}

bool picture_head(const char *path, picture *out, char message[PICTURE_MESSAGE]) {
    return open_and_decode(path, true, out, message);
}

bool picture_read(const char *path, size_t channels, picture *out, char message[PICTURE_MESSAGE]) {
    const bool good = open_and_decode(path, false, out, message);
    if (good && channels == 1)
        make_grey(out);
    return good;
}

bool picture_encode(int file, const picture *p, char why[PICTURE_MESSAGE]) {
    static const png_uint_32 format[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)p->cols,
                       .height = (png_uint_32)p->rows,
                       .format = format[p->channels - 1]};
    const int copy = dup(file); /* fclose() closes it */
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!stream)
        return refuse(why, "%s", strerror(errno));
    errno = 0;
    bool good = png_image_write_to_stdio(&image, stream, 0, p->pixel, 0, NULL) != 0;
    if (!good)
        refuse(why, "%s", errno ? strerror(errno) : image.message);
    if (fclose(stream) != 0 && good)
        good = refuse(why, "%s", strerror(errno));
    return good;
}

static bool encode_one(const void *pictures, size_t index, int file, char *why) {
    return picture_encode(file, (const picture *)pictures + index, why);
}

bool picture_write(size_t n, const char *const path[], const picture pictures[], char message[PICTURE_MESSAGE]) {
    return files_write(n, path, encode_one, pictures, message);
}
