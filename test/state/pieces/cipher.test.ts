/** Sealed pieces by themselves: keys, nonces, and what a piece is bound to. */
import t from 'tap'
import fc from 'fast-check'
import { KeyRing } from '../../../src/state/keys.js'
import type { PieceRole } from '../../../src/state/pieces/cipher.js'
import { headBytes, magicOf, PieceCipher, plainPiece } from '../../../src/state/pieces/cipher.js'

const keys = new KeyRing('store', () => Buffer.alloc(32, 1))
const fresh = (label = 'a'): PieceCipher => PieceCipher.fresh(keys, 'store', 'SPP1', label)
const zero = Buffer.alloc(32)

t.test('equal pieces of one file, and of two files, have nothing in common', (t) => {
  const one = fresh()
  const sealed = [
    one.seal(plainPiece(0), zero), one.seal(plainPiece(1), zero), fresh().seal(plainPiece(0), zero),
    one.seal({ role: 'index', number: 0, facts: '' }, zero),
    PieceCipher.of(keys, 'store', 'SPP1', 'b', one.head)?.seal(plainPiece(0), zero),
  ].map((bytes) => bytes?.subarray(0, 32).toString('hex'))
  t.equal(new Set(sealed).size, sealed.length)
  t.end()
})

t.test('a head says which file it is, and a head of another kind is none', (t) => {
  const { head } = fresh()
  t.equal(head.length, headBytes)
  t.equal(magicOf(head), 'SPP1')
  t.equal(PieceCipher.of(keys, 'store', 'SPT1', 'a', head), undefined)
  t.equal(PieceCipher.of(keys, 'store', 'SPP1', 'a', head.subarray(1)), undefined)
  t.end()
})

t.test('a piece opens with its own file, label, store, role, number and facts only', (t) => {
  const role = fc.record({
    role: fc.constantFrom('piece', 'last', 'index'), number: fc.integer({ min: 0, max: 2 }),
    facts: fc.constantFrom('', '1', '12'),
  })
  const files = [fresh(), fresh()]
  const place = fc.record({ file: fc.constantFrom(0, 1), label: fc.constantFrom('a', 'b'),
    store: fc.constantFrom('store', 'other'), role })
  const cipherAt = ({ file, label, store }: { file: number; label: string; store: string }) =>
    PieceCipher.of(new KeyRing(store, () => Buffer.alloc(32, 1)), store, 'SPP1', label,
      files[file]?.head ?? zero)
  fc.assert(fc.property(place, place, fc.uint8Array({ maxLength: 40 }), (one, two, text) => {
    const sealed = cipherAt(one)?.seal(one.role satisfies PieceRole, text) ?? zero
    const opened = cipherAt(two)?.open(two.role, sealed)
    const isSame = JSON.stringify(one) === JSON.stringify(two)
    t.equal(opened?.toString('hex'), isSame ? Buffer.from(text).toString('hex') : undefined)
  }), { numRuns: 400 })
  t.equal(fresh().open(plainPiece(0), Buffer.alloc(15)), undefined, 'shorter than a tag')
  t.end()
})
