/** The home folder of the account that runs this, whatever HOME says (S-057, S-058). */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

const [uidField, homeField] = [2, 5] as const

/** The home of a user id in the text of /etc/passwd (passwd(5)); null without a row. */
export const homeInPasswd = (text: string, uid: number): string | null => {
  for (const line of text.split('\n')) {
    const fields = line.split(':')
    if (fields[uidField] === String(uid)) return fields[homeField] || null
  }
  return null
}

/**
 * Absolute path, or null where the account has no entry. The file is read first: the C library
 * would ask a name service over a socket, and what only reads screenshots opens none. Accounts
 * that only a name service knows are looked up there.
 */
export const accountHome = (passwd = '/etc/passwd'): string | null => {
  try {
    const uid = process.getuid?.()
    const home = uid === undefined ? null : homeInPasswd(readFileSync(passwd, 'utf8'), uid)
    if (home !== null) return home
  } catch {
    // Not every system has the file.
  }
  try {
    return userInfo().homedir
  } catch {
    return null
  }
}
