/** What the judges of replies are asked with where it does not matter when something was made. */
import type { Provenance } from '../../../src/codehost/adapter/provenance.js'

/** Everything that the host tells a time of was made in it. */
export const anyTime: Provenance = { window: { fromMs: -Infinity, toMs: Infinity } }

/** One second of 2026, with what was made in it. */
export const oneSecond = {
  provenance: { window: { fromMs: 1_790_000_000_000, toMs: 1_790_000_001_000 } },
  within: new Date(1_790_000_000_000).toISOString().replace('.000Z', 'Z'),
  before: new Date(1_789_999_999_000).toISOString().replace('.000Z', 'Z'),
  behind: new Date(1_790_000_002_000).toISOString().replace('.000Z', 'Z'),
} as const
