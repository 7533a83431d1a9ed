/** What the judges of replies are asked with where it does not matter when something was made. */
import type { Provenance } from '../../../src/codehost/adapter/provenance.js'
import type { Loose } from '../../world/place.js'

/** Whatever was told at any time by the one who is told. */
export const anyTimeBy = ({ user }: Loose): Provenance => ({
  window: { fromMs: -Infinity, toMs: Infinity }, author: { id: user?.id ?? 0, via_app: false },
  marked: false,
})

/** One second of 2026, with what was made in it by account 5. */
export const oneSecond = {
  provenance: {
    window: { fromMs: 1_790_000_000_000, toMs: 1_790_000_001_000 },
    author: { id: 5, via_app: false }, marked: false,
  },
  user: { id: 5 },
  within: new Date(1_790_000_000_000).toISOString().replace('.000Z', 'Z'),
  before: new Date(1_789_999_999_000).toISOString().replace('.000Z', 'Z'),
  behind: new Date(1_790_000_002_000).toISOString().replace('.000Z', 'Z'),
} as const
