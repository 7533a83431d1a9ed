;; Rows of a PNG with 3 or 4 bytes a pixel: filters are undone in place, then the bytes of groups
;; of 16 pixels are added up, lane by lane, and weighed cell by cell. `scripts/generate.js` makes src/images/rows-wasm.ts of this file.
;;
;; A row is one filter byte and `length` bytes of pixels; rows follow each other. Loads may read a
;; byte behind a pixel, so memory goes on behind the last row. Before the first row, `above` points to
;; `length` zero bytes.
(module
  (memory (export "memory") 1)

  ;; Stores the low `step` bytes of a pixel.
  (func $put (param $at i32) (param $step i32) (param $pixel v128)
    (if (i32.eq (local.get $step) (i32.const 4))
      (then (v128.store32_lane 0 (local.get $at) (local.get $pixel)))
      (else
        (v128.store16_lane 0 (local.get $at) (local.get $pixel))
        (v128.store8_lane offset=2 2 (local.get $at) (local.get $pixel)))))

  (func $sub (param $at i32) (param $end i32) (param $step i32)
    (local $left v128)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $left (i8x16.add (v128.load32_zero (local.get $at)) (local.get $left)))
        (call $put (local.get $at) (local.get $step) (local.get $left))
        (local.set $at (i32.add (local.get $at) (local.get $step)))
        (br $next))))

  ;; Sixteen bytes at a time, then one by one.
  (func $up (param $at i32) (param $end i32) (param $above i32)
    (block $bulk
      (loop $next
        (br_if $bulk (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
        (v128.store (local.get $at)
          (i8x16.add (v128.load (local.get $at)) (v128.load (local.get $above))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $above (i32.add (local.get $above) (i32.const 16)))
        (br $next)))
    (block $done
      (loop $last
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (i32.store8 (local.get $at)
          (i32.add (i32.load8_u (local.get $at)) (i32.load8_u (local.get $above))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $above (i32.add (local.get $above) (i32.const 1)))
        (br $last))))

  ;; The processor's average rounds up; the filter's rounds down.
  (func $average (param $at i32) (param $end i32) (param $above i32) (param $step i32)
    (local $left v128) (local $over v128)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $over (v128.load32_zero (local.get $above)))
        (local.set $left
          (i8x16.add (v128.load32_zero (local.get $at))
            (i8x16.sub (i8x16.avgr_u (local.get $left) (local.get $over))
              (v128.and (v128.xor (local.get $left) (local.get $over))
                (i8x16.splat (i32.const 1))))))
        (call $put (local.get $at) (local.get $step) (local.get $left))
        (local.set $at (i32.add (local.get $at) (local.get $step)))
        (local.set $above (i32.add (local.get $above) (local.get $step)))
        (br $next))))

  (func $paeth (param $at i32) (param $end i32) (param $above i32) (param $step i32)
    (local $left v128) (local $over v128) (local $corner v128)
    (local $p v128) (local $q v128) (local $pa v128) (local $pb v128) (local $least v128)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $over (i16x8.extend_low_i8x16_u (v128.load32_zero (local.get $above))))
        (local.set $p (i16x8.sub (local.get $over) (local.get $corner)))
        (local.set $q (i16x8.sub (local.get $left) (local.get $corner)))
        (local.set $pa (i16x8.abs (local.get $p)))
        (local.set $pb (i16x8.abs (local.get $q)))
        (local.set $least
          (i16x8.min_s (i16x8.abs (i16x8.add (local.get $p) (local.get $q)))
            (i16x8.min_s (local.get $pa) (local.get $pb))))
        (local.set $left
          (v128.and
            (i16x8.add
              (i16x8.extend_low_i8x16_u (v128.load32_zero (local.get $at)))
              (v128.bitselect (local.get $left)
                (v128.bitselect (local.get $over) (local.get $corner)
                  (i16x8.eq (local.get $least) (local.get $pb)))
                (i16x8.eq (local.get $least) (local.get $pa))))
            (i16x8.splat (i32.const 255))))
        (local.set $corner (local.get $over))
        (call $put (local.get $at) (local.get $step)
          (i8x16.narrow_i16x8_u (local.get $left) (local.get $left)))
        (local.set $at (i32.add (local.get $at) (local.get $step)))
        (local.set $above (i32.add (local.get $above) (local.get $step)))
        (br $next))))

  ;; Undoes the filters of `rows` rows; 0 when one of them has a filter that does not exist.
  (func (export "unfilter")
    (param $at i32) (param $rows i32) (param $length i32) (param $step i32) (param $above i32)
    (result i32)
    (local $filter i32) (local $from i32) (local $end i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $rows)))
        (local.set $filter (i32.load8_u (local.get $at)))
        (local.set $from (i32.add (local.get $at) (i32.const 1)))
        (local.set $end (i32.add (local.get $from) (local.get $length)))
        (if (i32.gt_u (local.get $filter) (i32.const 4)) (then (return (i32.const 0))))
        (if (i32.eq (local.get $filter) (i32.const 1))
          (then (call $sub (local.get $from) (local.get $end) (local.get $step))))
        (if (i32.eq (local.get $filter) (i32.const 2))
          (then (call $up (local.get $from) (local.get $end) (local.get $above))))
        (if (i32.eq (local.get $filter) (i32.const 3))
          (then
            (call $average (local.get $from) (local.get $end) (local.get $above)
              (local.get $step))))
        (if (i32.eq (local.get $filter) (i32.const 4))
          (then
            (call $paeth (local.get $from) (local.get $end) (local.get $above)
              (local.get $step))))
        (local.set $above (local.get $from))
        (local.set $at (local.get $end))
        (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
        (br $next)))
    (i32.const 1))

  ;; Adds sixteen bytes to sixteen 16-bit sums.
  (func $add (param $from i32) (param $sums i32)
    (local $bytes v128)
    (local.set $bytes (v128.load (local.get $from)))
    (v128.store (local.get $sums)
      (i16x8.add (v128.load (local.get $sums)) (i16x8.extend_low_i8x16_u (local.get $bytes))))
    (v128.store offset=16 (local.get $sums)
      (i16x8.add (v128.load offset=16 (local.get $sums))
        (i16x8.extend_high_i8x16_u (local.get $bytes)))))

  ;; Adds up to 16 unfiltered rows to the sums of their groups of 16 pixels: 16 * step lanes of 16
  ;; bits a group, lane j the sum of the bytes at place j of its rows. Sixteen rows cannot overflow.
  (func (export "addRows")
    (param $at i32) (param $rows i32) (param $length i32) (param $step i32) (param $groups i32)
    (param $sums i32)
    (local $from i32) (local $to i32) (local $left i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $rows)))
        (local.set $from (i32.add (local.get $at) (i32.const 1)))
        (local.set $to (local.get $sums))
        (local.set $left (i32.mul (local.get $groups) (local.get $step)))
        (block $ended
          (loop $vector
            (br_if $ended (i32.eqz (local.get $left)))
            (call $add (local.get $from) (local.get $to))
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $to (i32.add (local.get $to) (i32.const 32)))
            (local.set $left (i32.sub (local.get $left) (i32.const 1)))
            (br $vector)))
        (local.set $at (i32.add (local.get $at) (i32.add (local.get $length) (i32.const 1))))
        (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
        (br $next))))

  ;; Weighs `cells` cells of 8 pixels each out of the sums of their rows: luma in 1/65536 of a level,
  ;; 32 bits a cell; -1 where a sum of alpha is not `full`. The largest is 64 * 255 * 65536.
  (func (export "weighCells")
    (param $sums i32) (param $cells i32) (param $step i32) (param $full i32) (param $out i32)
    (local $r i32) (local $g i32) (local $b i32) (local $left i32) (local $clear i32)
    (block $done
      (loop $cell
        (br_if $done (i32.eqz (local.get $cells)))
        (local.set $r (i32.const 0))
        (local.set $g (i32.const 0))
        (local.set $b (i32.const 0))
        (local.set $clear (i32.const 0))
        (local.set $left (i32.const 8))
        (loop $pixel
          (local.set $r (i32.add (local.get $r) (i32.load16_u (local.get $sums))))
          (local.set $g (i32.add (local.get $g) (i32.load16_u offset=2 (local.get $sums))))
          (local.set $b (i32.add (local.get $b) (i32.load16_u offset=4 (local.get $sums))))
          (if (i32.eq (local.get $step) (i32.const 4))
            (then
              (local.set $clear
                (i32.or (local.get $clear)
                  (i32.ne (i32.load16_u offset=6 (local.get $sums)) (local.get $full))))))
          (local.set $sums
            (i32.add (local.get $sums) (i32.shl (local.get $step) (i32.const 1))))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br_if $pixel (local.get $left)))
        (i32.store (local.get $out)
          (select (i32.const -1)
            (i32.add (i32.mul (local.get $r) (i32.const 19595))
              (i32.add (i32.mul (local.get $g) (i32.const 38470))
                (i32.mul (local.get $b) (i32.const 7471))))
            (local.get $clear)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $cells (i32.sub (local.get $cells) (i32.const 1)))
        (br $cell)))))
