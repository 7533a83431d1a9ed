/** What somebody consents to, in the words that they acknowledge. */
import { sha256Hex } from '../base/canonical.js'
import { durationText } from '../base/duration.js'
import { actionTexts, type CodehostAction } from './constants.js'

/** Version of the wording; a change of one word is a new version. */
const codehostConsentVersion = 'codehost.finite-writes.v1'

/** The text with the digest that the consent's row keeps: SHA-256 of its UTF-8 bytes. */
export interface CodehostStatement {
  readonly version: string
  readonly text: string
  readonly sha256: string
}

interface StatementFacts {
  readonly host: string
  readonly repository: string
  readonly repositoryId: number
  readonly actions: readonly CodehostAction[]
  readonly durationMs: number
}

/** The exact text that is shown before the acknowledgment. */
export const codehostStatement = (facts: StatementFacts): CodehostStatement => {
  const { host, repository, repositoryId, actions, durationMs } = facts
  const text = [
    `Consent to writes on ${host} (${codehostConsentVersion})`,
    '',
    `1. For ${durationText(durationMs)}, and never longer than this session, programs of this`,
    `   state may do this in ${repository} (number ${repositoryId}), and nothing else:`,
    ...actions.map((action) => `   - ${action}: ${actionTexts[action]}`),
    '2. Each job still needs its own approval of the exact effects that it names.',
    '3. What was written cannot be taken back from here. What may have been sent is never sent',
    '   again; where nobody knows, the connection stays occupied until that is settled.',
    '4. The host sees everything that is published. A new branch may start its automation.',
    '5. It ends at once with `sallyport codehost revoke`, with `sallyport policy revoke` and with',
    '   the session that gives it; a new session needs a new consent.',
    '',
  ].join('\n')
  return { version: codehostConsentVersion, text, sha256: sha256Hex(text) }
}
