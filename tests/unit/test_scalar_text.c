/* SPDX-License-Identifier: MIT */
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

static void explain(const char *text, enum scalar_type type, const char *wanted)
{
    char why[SCALAR_WHY_BYTES];
    refuse(text, type);
    scalar_explain(text, type, why, sizeof why);
    assert_string_equal(why, wanted);
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

static void what_is_wrong_with_a_text_is_said(void **state)
{
    (void)state;
    explain("", SCALAR_I32, "there is no value; its type is i32");
    explain("maybe", SCALAR_BOOL, "'maybe' is not a value of type bool: true or false");
    explain("five", SCALAR_I32,
            "'five' is not a value of type i32: a whole number, -2147483648 to 2147483647");
    explain("1.5", SCALAR_U8, "'1.5' is not a value of type u8: a whole number, 0 to 255");
    explain("0x", SCALAR_F16, "'0x' is not a value of type f16: a number, -65504 to 65504");
    explain("-1", SCALAR_U64, "'-1' is outside of u64: 0 to 18446744073709551615");
    explain("18446744073709551616", SCALAR_U64,
            "'18446744073709551616' is outside of u64: 0 to 18446744073709551615");
    explain("9223372036854775808", SCALAR_I64,
            "'9223372036854775808' is outside of i64: -9223372036854775808 to 9223372036854775807");
    explain("1e99", SCALAR_I32, "'1e99' is outside of i32: -2147483648 to 2147483647");
    explain("1e99", SCALAR_F32, "'1e99' is outside of f32: -3.4028235e+38 to 3.4028235e+38");
    explain("1e999", SCALAR_F64,
            "'1e999' is outside of f64: -1.7976931348623157e+308 to 1.7976931348623157e+308");
    explain("1e39", SCALAR_BF16, "'1e39' is outside of bf16: -3.3895314e+38 to 3.3895314e+38");
    explain("a word of more bytes than a message has room for", SCALAR_U8,
            "'a word of more bytes than a message has ...' is not a value of type u8: a whole "
            "number, 0 to 255");
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

static void lists_have_as_many_values_as_asked_for(void **unused)
{
    (void)unused;
    uint64_t bits[3] = {0};
    char why[SCALAR_WHY_BYTES + 32];
    assert_true(scalar_list_parse("1,-2,  0x10", SCALAR_I16, 3, bits, why, sizeof why));
    assert_int_equal(bits[0], 1);
    assert_int_equal((int64_t)bits[1], -2);
    assert_int_equal(bits[2], 16);
    assert_true(scalar_list_parse("7", SCALAR_I16, 1, bits, why, sizeof why));
    static const struct {
        const char *text, *why;
    } bad[] = {{"", "0 values, not 3"},
               {"1,2", "2 values, not 3"},
               {"1,2,3,4", "4 values, not 3"},
               {"1,2,", "value 3 of 3: there is no value"},
               {"1,2 ,3", "value 2 of 3: '2 ' is not a value"},
               {"1,2,40000", "value 3 of 3: '40000' is outside of i16"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(scalar_list_parse(bad[i].text, SCALAR_I16, 3, bits, why, sizeof why));
        if (strstr(why, bad[i].why) == NULL) fail_msg("%s: %s", bad[i].text, why);
    }
    assert_false(scalar_list_parse("1,2", SCALAR_I16, 1, bits, why, sizeof why));
}

TEST_MAIN("scalar_text", cmocka_unit_test(integers_in_c_notation),
          cmocka_unit_test(what_does_not_fit_is_refused),
          cmocka_unit_test(what_is_not_a_value_is_refused),
          cmocka_unit_test(what_is_wrong_with_a_text_is_said),
          cmocka_unit_test(lists_have_as_many_values_as_asked_for),
          cmocka_unit_test(floats_are_rounded_once),
          cmocka_unit_test(text_reads_back_as_the_same_value))
