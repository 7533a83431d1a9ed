/** Peak memory of this process. */
import { readFileSync } from 'node:fs'

/**
 * Most resident memory since this program began, MiB; NaN where the system does not tell it. Not
 * what `resourceUsage` says: there the kernel counts what the process had that started this one.
 */
export const peakMib = (): number => {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(status) ?? []
    return Number(kibibytes) / 1024
  } catch {
    return NaN
  }
}
