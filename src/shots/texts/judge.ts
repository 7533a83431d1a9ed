/**
 * Whether a text that a model wrote may be kept. It is taken whole or refused: nothing is cut,
 * cleaned or rewritten here, because then part of it would be ours (S-026, S-101, S-141).
 */
import { holdsMessage } from '../payload/screen.js'

/** Why a text is refused. */
type TextRefusal =
  | 'text_empty' | 'text_too_long' | 'text_has_control_characters' | 'text_has_data'
  | 'text_has_digest' | 'text_has_message' | 'payload_contains_secret'

/** Unicode code points (S-100, S-141). */
export const codePoints = (text: string): number => [...text].length

/** Long enough that no sentence, name or address of ordinary text looks like it. */
const data = /data:[\w.+-]+\/[\w.+-]+[;,]|[A-Za-z0-9+/]{256,}|(?:[A-Za-z0-9+/]{60,}\r?\n){4,}/
const digest = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i
const control = /[^\P{Cc}\t\n\r]/u

/** What the text alone says. */
export const judgeText = (
  text: string, charsMax: number, holdsSecret: (text: string) => boolean,
): TextRefusal | null => {
  if (text.trim() === '') return 'text_empty'
  if (codePoints(text) > charsMax) return 'text_too_long'
  if (control.test(text)) return 'text_has_control_characters'
  if (data.test(text)) return 'text_has_data'
  if (digest.test(text)) return 'text_has_digest'
  if (holdsMessage(text)) return 'text_has_message'
  return holdsSecret(text) ? 'payload_contains_secret' : null
}
