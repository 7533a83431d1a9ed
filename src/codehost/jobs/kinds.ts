/** The two native kinds of jobs and the public capability that each one is. */
import { fail } from '../../base/errors.js'

/** Opening an issue, or writing a comment: one effect. */
export const followThroughKind = 'codehost_followthrough_v1'
/** Publishing files as a branch with a pull request. */
export const publicationKind = 'engineering.repo-publication.v1'

/** Native kinds, as tasks and rows name them. */
export const nativeKinds = [followThroughKind, publicationKind] as const
export type NativeKind = (typeof nativeKinds)[number]

/** The public capability of each; there is no other way to come by one (C-049, C-051). */
export const publicCapabilities = {
  [followThroughKind]: 'work.codehost-followthrough.v1',
  [publicationKind]: 'engineering.repo-publication.v1',
} as const satisfies Readonly<Record<NativeKind, string>>
type PublicCapability = (typeof publicCapabilities)[NativeKind]

/**
 * The public capability of a native kind, where what the job's own row declares agrees: no
 * wildcard, nothing of a caller's. Throws `blocked` `capability_mismatch` (C-050).
 */
export const publicCapability = (kind: NativeKind, declared: string): PublicCapability => {
  const mapped = publicCapabilities[kind]
  if (mapped === declared) return mapped
  throw fail.blocked(
    'capability_mismatch', 'The job declares the authority of another capability.', {
      next: 'Run `sallyport state check`.',
    },
  )
}
