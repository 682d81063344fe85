/* Values as people write them on a command line. */
#include "tests/test.h"

#include "lang/scalar_text.h"

static void expect(const char *text, enum scalar_type type, uint64_t wanted)
{
    uint64_t bits = 0;
    if (!scalar_parse(text, type, &bits))
        fail_msg("'%s' is not taken as %s", text, scalar_name(type));
    if (bits != wanted)
        fail_msg("'%s' as %s is %llx", text, scalar_name(type), (unsigned long long)bits);
}

static void refuse(const char *text, enum scalar_type type)
{
    uint64_t bits = 0;
    if (scalar_parse(text, type, &bits)) fail_msg("'%s' is taken as %s", text, scalar_name(type));
}

static void integers_in_c_notation(void **state)
{
    (void)state;
    expect("-128", SCALAR_I8, (uint64_t)-128);
    expect("0xff", SCALAR_U8, 255);
    expect("010", SCALAR_I32, 8);
    expect("-9223372036854775808", SCALAR_I64, UINT64_C(1) << 63);
    expect("18446744073709551615", SCALAR_U64, UINT64_MAX);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refuse("128", SCALAR_I8);
    refuse("-129", SCALAR_I8);
    refuse("256", SCALAR_U8);
    refuse("-1", SCALAR_U64);
    refuse("18446744073709551616", SCALAR_U64);
    refuse("1e99", SCALAR_F32);
    refuse("1e999", SCALAR_F64);
    refuse("2", SCALAR_BOOL);
}

static void what_is_not_a_value_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", " 1", "1 ", "1x", "five", "--1", "0x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        refuse(texts[i], SCALAR_I32);
        refuse(texts[i], SCALAR_F32);
        refuse(texts[i], SCALAR_BOOL);
    }
}

static void floats_are_rounded_once(void **state)
{
    (void)state;
    expect("0.1", SCALAR_F32, 0x3dcccccd);
    expect("0.1", SCALAR_F64, UINT64_C(0x3fb999999999999a));
    expect("-inf", SCALAR_F32, 0xff800000);
    expect("1e-60", SCALAR_F32, 0);
}

static void text_reads_back_as_the_same_value(void **state)
{
    (void)state;
    static const struct {
        enum scalar_type type;
        uint64_t bits;
    } values[] = {{SCALAR_F32, 0x3dcccccd},         {SCALAR_F32, 1},
                  {SCALAR_F32, 0x7f7fffff},         {SCALAR_F64, 1},
                  {SCALAR_F64, 0x3fb999999999999a}, {SCALAR_I8, (uint64_t)-128},
                  {SCALAR_U64, UINT64_MAX},         {SCALAR_BOOL, 1}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[64];
        scalar_format(values[i].type, values[i].bits, text, sizeof text);
        expect(text, values[i].type, values[i].bits);
    }
}

TEST_MAIN("scalar_text", cmocka_unit_test(integers_in_c_notation),
          cmocka_unit_test(what_does_not_fit_is_refused),
          cmocka_unit_test(what_is_not_a_value_is_refused),
          cmocka_unit_test(floats_are_rounded_once),
          cmocka_unit_test(text_reads_back_as_the_same_value))
