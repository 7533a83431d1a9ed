/** The two ways in which a line names its idempotency key. */
import type { Command } from 'commander'
import { fail } from '../base/errors.js'
import { keyOfText, type KeyUse } from '../governance/board/text-keys.js'
import type { Gov, Session } from '../governance/context.js'

/** What they become. */
export interface KeyOptions {
  readonly idempotencyKey?: string
  readonly idempotencyText?: string
}

/** Adds both flags; `same` says what the same key finds. */
export const withKeyFlags = (command: Command, same: string): Command => command
  .option('--idempotency-key <uuid>', same)
  .option('--idempotency-text <text>', 'the same, by words of up to 200 bytes: "$GITHUB_RUN_ID-3"')

/** The key of a line; undefined where it names none. Throws `usage` `key_twice`, `rejected`. */
export const keyOf = (
  { idempotencyKey: key, idempotencyText: text }: KeyOptions, use: KeyUse,
  { gov, session }: { readonly gov: Gov; readonly session: Session },
): string | undefined => {
  if (text === undefined) return key
  if (key === undefined) return keyOfText(gov.store, session, use, text)
  throw fail.usage('key_twice', 'Give one of --idempotency-key and --idempotency-text.')
}
