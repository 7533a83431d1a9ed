import type { AuditDocument } from '../../../governance/audit-contract.js'

/** The facts of a row in one line: `name=value`, separated by spaces. */
export const factsText = ({ facts }: AuditDocument): string =>
  Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`).join(' ')
