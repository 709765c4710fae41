;; Comparisons of one vector with many, sixteen components or bytes at a time.
;; Both functions take addresses in the imported memory, the number of rows, the length of a row in bytes (a multiple of 32), and the address of the
;; results, one i32 a row. `npx jiti test/tools/vector-kernel.ts` writes the bytes of this module into kernel.ts; a test compares the two.
(module
  (import "env" "memory" (memory 1))

  ;; out[r] = sum over i of query[i] * row[i]; the query has i8 components, the rows four bits without a sign: of each 16 bytes the low halves are the first
  ;; 16 components and the high halves the next 16. |query[i]| <= 127, so that eight products, each at most 1905, fit i16.
  (func (export "dot") (param $query i32) (param $rows i32) (param $count i32) (param $stride i32) (param $out i32)
    (local $q i32) (local $end i32)
    (local $a v128) (local $bytes v128) (local $row4 v128) (local $query8 v128)
    block $done
      loop $row
        local.get $count
        i32.eqz
        br_if $done

        v128.const i32x4 0 0 0 0
        local.set $a
        local.get $query
        local.set $q
        local.get $rows
        local.get $stride
        i32.add
        local.set $end

        loop $components
          ;; the low halves of 16 bytes
          local.get $rows
          v128.load
          local.tee $bytes
          v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15
          v128.and
          local.tee $row4
          local.get $q
          v128.load
          local.tee $query8
          i16x8.extmul_low_i8x16_s
          local.get $row4
          local.get $query8
          i16x8.extmul_high_i8x16_s
          i16x8.add

          ;; their high halves
          local.get $bytes
          i32.const 4
          i8x16.shr_u
          local.tee $row4
          local.get $q
          v128.load offset=16
          local.tee $query8
          i16x8.extmul_low_i8x16_s
          i16x8.add
          local.get $row4
          local.get $query8
          i16x8.extmul_high_i8x16_s
          i16x8.add

          ;; the low halves of the next 16
          local.get $rows
          v128.load offset=16
          local.tee $bytes
          v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15
          v128.and
          local.tee $row4
          local.get $q
          v128.load offset=32
          local.tee $query8
          i16x8.extmul_low_i8x16_s
          i16x8.add
          local.get $row4
          local.get $query8
          i16x8.extmul_high_i8x16_s
          i16x8.add

          ;; their high halves
          local.get $bytes
          i32.const 4
          i8x16.shr_u
          local.tee $row4
          local.get $q
          v128.load offset=48
          local.tee $query8
          i16x8.extmul_low_i8x16_s
          i16x8.add
          local.get $row4
          local.get $query8
          i16x8.extmul_high_i8x16_s
          i16x8.add

          i32x4.extadd_pairwise_i16x8_s
          local.get $a
          i32x4.add
          local.set $a

          local.get $q
          i32.const 64
          i32.add
          local.set $q
          local.get $rows
          i32.const 32
          i32.add
          local.tee $rows
          local.get $end
          i32.lt_u
          br_if $components
        end

        ;; out[r] = sum of the lanes of a
        local.get $out
        local.get $a
        i32x4.extract_lane 0
        local.get $a
        i32x4.extract_lane 1
        i32.add
        local.get $a
        i32x4.extract_lane 2
        i32.add
        local.get $a
        i32x4.extract_lane 3
        i32.add
        i32.store

        ;; next row; rows is already there
        local.get $out
        i32.const 4
        i32.add
        local.set $out
        local.get $count
        i32.const 1
        i32.sub
        local.set $count
        br $row
      end
    end)

  ;; out[r] = number of bits in which the query and the row differ
  (func (export "differing") (param $query i32) (param $rows i32) (param $count i32) (param $stride i32) (param $out i32)
    (local $q i32) (local $end i32)
    (local $a v128)
    block $done
      loop $row
        local.get $count
        i32.eqz
        br_if $done

        v128.const i32x4 0 0 0 0
        local.set $a
        local.get $query
        local.set $q
        local.get $rows
        local.get $stride
        i32.add
        local.set $end

        loop $bytes
          ;; a += differing bits of 32 bytes, counted a byte, added up in pairs until there are four numbers
          local.get $a
          local.get $rows
          v128.load
          local.get $q
          v128.load
          v128.xor
          i8x16.popcnt
          i16x8.extadd_pairwise_i8x16_u
          local.get $rows
          v128.load offset=16
          local.get $q
          v128.load offset=16
          v128.xor
          i8x16.popcnt
          i16x8.extadd_pairwise_i8x16_u
          i16x8.add
          i32x4.extadd_pairwise_i16x8_u
          i32x4.add
          local.set $a

          local.get $q
          i32.const 32
          i32.add
          local.set $q
          local.get $rows
          i32.const 32
          i32.add
          local.tee $rows
          local.get $end
          i32.lt_u
          br_if $bytes
        end

        ;; out[r] = sum of the lanes of a
        local.get $out
        local.get $a
        i32x4.extract_lane 0
        local.get $a
        i32x4.extract_lane 1
        i32.add
        local.get $a
        i32x4.extract_lane 2
        i32.add
        local.get $a
        i32x4.extract_lane 3
        i32.add
        i32.store

        ;; next row; rows is already there
        local.get $out
        i32.const 4
        i32.add
        local.set $out
        local.get $count
        i32.const 1
        i32.sub
        local.set $count
        br $row
      end
    end)
)
