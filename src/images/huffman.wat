;; One scan of a baseline JPEG: passes over every block, keeping the DC values of the first component
;; (ITU-T T.81, annexes F.2 and G). `scripts/generate.js` makes src/images/huffman-wasm.ts of this file.
;;
;; It only ever reads a scan that is as it should be: codes of the table, bits that are there, a
;; restart marker where one is due. Whatever else it meets it gives up on, and jpeg.ts reads the scan.
;;
;; An entry of a table is 16 bits: in the low 6 how many bits to pass over, above them how many
;; coefficients (AC) or the bits of the value (DC). An entry 0 is no code. A quick table is looked up
;; by the next 12 bits (AC) or 10 bits (DC); behind it lies the full one, by the next 16 bits. A quick
;; AC entry is all symbols whose codes lie in those 12 bits together; 64 more coefficients mean that
;; the last one ends the block, and 1023 that not even one code lies in them.
(module
  (memory (export "memory") 1 512)

  ;; Where `unstuff` stopped.
  (global $stopped (mut i32) (i32.const 0))

  ;; Copies data up to the next marker or `end` without its stuffing; gives where the copy ends.
  ;; Reads up to 16 bytes behind `end`, and writes as many behind what it gives.
  (func $unstuff (param $from i32) (param $end i32) (param $to i32) (result i32)
    (local $chunk v128) (local $marks i32) (local $plain i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
        (local.set $chunk (v128.load (local.get $from)))
        (local.set $marks
          (i8x16.bitmask (i8x16.eq (local.get $chunk) (i8x16.splat (i32.const 255)))))
        (v128.store (local.get $to) (local.get $chunk))
        (local.set $plain
          (i32.ctz (i32.or (local.get $marks) (i32.const 65536))))
        (local.set $from (i32.add (local.get $from) (local.get $plain)))
        (local.set $to (i32.add (local.get $to) (local.get $plain)))
        (br_if $next (i32.eqz (local.get $marks)))
        (br_if $done (i32.ge_u (i32.add (local.get $from) (i32.const 1)) (local.get $end)))
        (br_if $done (i32.load8_u offset=1 (local.get $from)))
        (i32.store8 (local.get $to) (i32.const 255))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $from (i32.add (local.get $from) (i32.const 2)))
        (br $next)))
    ;; What lies behind the end was looked at with the last bytes, and is none of them.
    (if (i32.gt_u (local.get $from) (local.get $end))
      (then
        (local.set $to
          (i32.sub (local.get $to) (i32.sub (local.get $from) (local.get $end))))
        (local.set $from (local.get $end))))
    (global.set $stopped (local.get $from))
    (local.get $to))

  ;; Reads the scan whose data begin at `from`. `plan` to `planEnd` are the blocks of one unit, 16
  ;; bytes each: quick DC table, quick AC table, where the DC value of the first unit goes or 0. A
  ;; unit's values lie `columnStep` bytes behind those of the unit left of it, `rowStep` behind those
  ;; of the one above. `interval`: units between restarts, or 0. `room`: for the data without their
  ;; stuffing. Gives a place in or behind the data, not behind the next marker; -1: given up.
  (func (export "readScan")
    (param $from i32) (param $end i32) (param $room i32)
    (param $plan i32) (param $planEnd i32)
    (param $columns i32) (param $rows i32) (param $columnStep i32) (param $rowStep i32)
    (param $interval i32)
    (result i32)
    ;; The next bits stand at the top; `count` of them are sure; `at`: the byte behind those.
    (local $bits i64) (local $count i32) (local $at i32) (local $last i32)
    (local $left i32) (local $column i32) (local $rowAt i32) (local $unitAt i32)
    (local $step i32) (local $out i32) (local $previous i32)
    (local $entry i32) (local $dc i32) (local $ac i32) (local $k i32) (local $next i32)
    (local $size i32) (local $value i32) (local $mask i32)
    (local.set $last (call $unstuff (local.get $from) (local.get $end) (local.get $room)))
    (local.set $at (local.get $room))
    (local.set $left (select (local.get $interval) (i32.const -1) (local.get $interval)))
    (loop $row
      (local.set $unitAt (local.get $rowAt))
      (local.set $column (local.get $columns))
      (loop $unit
        (if (i32.eqz (local.get $left))
          (then
            ;; Less than a byte may be left, and the marker has to follow at once.
            (if (i32.ge_u
                  (i32.add (local.get $count)
                    (i32.shl (i32.sub (local.get $last) (local.get $at)) (i32.const 3)))
                  (i32.const 8))
              (then (return (i32.const -1))))
            (local.set $from (global.get $stopped))
            (if (i32.gt_u (i32.add (local.get $from) (i32.const 2)) (local.get $end))
              (then (return (i32.const -1))))
            (if (i32.ne (i32.and (i32.load16_u (local.get $from)) (i32.const 0xf8ff))
                  (i32.const 0xd0ff))
              (then (return (i32.const -1))))
            (local.set $last
              (call $unstuff (i32.add (local.get $from) (i32.const 2)) (local.get $end)
                (local.get $room)))
            (local.set $at (local.get $room))
            (local.set $bits (i64.const 0))
            (local.set $count (i32.const 0))
            (local.set $previous (i32.const 0))
            (local.set $left (local.get $interval))))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (local.set $step (local.get $plan))
        (loop $block
          ;; At least 56 bits.
          (local.set $bits
            (i64.or (local.get $bits)
              (i64.shr_u
                (i64x2.extract_lane 0
                  (i8x16.shuffle 7 6 5 4 3 2 1 0 7 6 5 4 3 2 1 0
                    (v128.load64_zero (local.get $at)) (v128.const i64x2 0 0)))
                (i64.extend_i32_u (local.get $count)))))
          (local.set $at
            (i32.add (local.get $at)
              (i32.shr_u (i32.sub (i32.const 63) (local.get $count)) (i32.const 3))))
          (local.set $count (i32.or (local.get $count) (i32.const 56)))
          ;; The DC difference: at most 16 bits of code and 11 of value.
          (local.set $dc (i32.load (local.get $step)))
          (local.set $entry
            (i32.load16_u
              (i32.add (local.get $dc)
                (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 53)))
                  (i32.const 0x7fe)))))
          (if (i32.eqz (local.get $entry))
            (then
              (local.set $entry
                (i32.load16_u offset=2048
                  (i32.add (local.get $dc)
                    (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 47)))
                      (i32.const 0x1fffe)))))
              (if (i32.eqz (local.get $entry)) (then (return (i32.const -1))))))
          (local.set $out (i32.load offset=8 (local.get $step)))
          (if (local.get $out)
            (then
              (local.set $size (i32.shr_u (local.get $entry) (i32.const 6)))
              (local.set $mask
                (i32.sub (i32.shl (i32.const 1) (local.get $size)) (i32.const 1)))
              (local.set $value
                (i32.and (local.get $mask)
                  (i32.wrap_i64
                    (i64.shr_u (local.get $bits)
                      (i64.extend_i32_u
                        (i32.sub (i32.const 64)
                          (i32.and (local.get $entry) (i32.const 63))))))))
              ;; The lower half of the values stands for negative ones; no bits are the value 0.
              (local.set $previous
                (i32.add (local.get $previous)
                  (i32.sub (local.get $value)
                    (select (local.get $mask) (i32.const 0)
                      (i32.le_u (local.get $value)
                        (i32.shr_u (local.get $mask) (i32.const 1)))))))
              (i32.store (i32.add (local.get $out) (local.get $unitAt))
                (local.get $previous))))
          (local.set $bits
            (i64.shl (local.get $bits) (i64.extend_i32_u (local.get $entry))))
          (local.set $count
            (i32.sub (local.get $count) (i32.and (local.get $entry) (i32.const 63))))
          (local.set $ac (i32.load offset=4 (local.get $step)))
          (local.set $k (i32.const 1))
          (block $ended
            (loop $values
              (local.set $bits
                (i64.or (local.get $bits)
                  (i64.shr_u
                    (i64x2.extract_lane 0
                      (i8x16.shuffle 7 6 5 4 3 2 1 0 7 6 5 4 3 2 1 0
                        (v128.load64_zero (local.get $at)) (v128.const i64x2 0 0)))
                    (i64.extend_i32_u (local.get $count)))))
              (local.set $at
                (i32.add (local.get $at)
                  (i32.shr_u (i32.sub (i32.const 63) (local.get $count)) (i32.const 3))))
              (local.set $count (i32.or (local.get $count) (i32.const 56)))
              ;; Twice, at most 27 bits each: then bits are wanted again.
              (local.set $entry
                (i32.load16_u
                  (i32.add (local.get $ac)
                    (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 51)))
                      (i32.const 0x1ffe)))))
              (local.set $next
                (i32.add (local.get $k) (i32.shr_u (local.get $entry) (i32.const 6))))
              (if (i32.lt_u (local.get $next) (i32.const 64))
                (then
                  (local.set $bits
                    (i64.shl (local.get $bits) (i64.extend_i32_u (local.get $entry))))
                  (local.set $count
                    (i32.sub (local.get $count)
                      (i32.and (local.get $entry) (i32.const 63))))
                  (local.set $k (local.get $next))
                  (local.set $entry
                    (i32.load16_u
                      (i32.add (local.get $ac)
                        (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 51)))
                          (i32.const 0x1ffe)))))
                  (local.set $next
                    (i32.add (local.get $k) (i32.shr_u (local.get $entry) (i32.const 6))))
                  (if (i32.lt_u (local.get $next) (i32.const 64))
                    (then
                      (local.set $bits
                        (i64.shl (local.get $bits) (i64.extend_i32_u (local.get $entry))))
                      (local.set $count
                        (i32.sub (local.get $count)
                          (i32.and (local.get $entry) (i32.const 63))))
                      (local.set $k (local.get $next))
                      (br $values)))))
              ;; The block ends with these symbols: the last one says so, within its 64 values.
              (if (i32.and
                    (i32.lt_u (local.get $next) (i32.const 128))
                    (i32.shr_u (i32.and (local.get $entry) (i32.const 4096)) (i32.const 12)))
                (then
                  (local.set $bits
                    (i64.shl (local.get $bits) (i64.extend_i32_u (local.get $entry))))
                  (local.set $count
                    (i32.sub (local.get $count)
                      (i32.and (local.get $entry) (i32.const 63))))
                  (br $ended)))
              ;; One symbol alone: its code is long, or another one behind it is another block's.
              (local.set $bits
                (i64.or (local.get $bits)
                  (i64.shr_u
                    (i64x2.extract_lane 0
                      (i8x16.shuffle 7 6 5 4 3 2 1 0 7 6 5 4 3 2 1 0
                        (v128.load64_zero (local.get $at)) (v128.const i64x2 0 0)))
                    (i64.extend_i32_u (local.get $count)))))
              (local.set $at
                (i32.add (local.get $at)
                  (i32.shr_u (i32.sub (i32.const 63) (local.get $count)) (i32.const 3))))
              (local.set $count (i32.or (local.get $count) (i32.const 56)))
              (local.set $entry
                (i32.load16_u offset=8192
                  (i32.add (local.get $ac)
                    (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 47)))
                      (i32.const 0x1fffe)))))
              (if (i32.eqz (local.get $entry)) (then (return (i32.const -1))))
              (local.set $bits
                (i64.shl (local.get $bits) (i64.extend_i32_u (local.get $entry))))
              (local.set $count
                (i32.sub (local.get $count) (i32.and (local.get $entry) (i32.const 63))))
              (local.set $k
                (i32.add (local.get $k) (i32.shr_u (local.get $entry) (i32.const 6))))
              (br_if $values (i32.lt_u (local.get $k) (i32.const 64)))))
          ;; Bits that were not there.
          (if (i32.gt_s
                (i32.sub (i32.shl (local.get $at) (i32.const 3)) (local.get $count))
                (i32.shl (local.get $last) (i32.const 3)))
            (then (return (i32.const -1))))
          (local.set $step (i32.add (local.get $step) (i32.const 16)))
          (br_if $block (i32.lt_u (local.get $step) (local.get $planEnd))))
        (local.set $unitAt (i32.add (local.get $unitAt) (local.get $columnStep)))
        (local.set $column (i32.sub (local.get $column) (i32.const 1)))
        (br_if $unit (local.get $column)))
      (local.set $rowAt (i32.add (local.get $rowAt) (local.get $rowStep)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $row (local.get $rows)))
    (global.get $stopped)))
