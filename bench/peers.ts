/** What the bench compares with and may not find, and how it is installed. */

/** Looks for pictures that are alike. */
export const dupesPeer = 'findimagedupes (Debian, Ubuntu: sudo apt-get install findimagedupes)'

/** The database beside which commits are measured. */
export const sqlitePeer =
  'python3 with its sqlite3 module (Debian, Ubuntu: sudo apt-get install python3)'

/** Holds a socket and starts what is asked for. */
export const activatorPeer =
  'systemd-socket-activate (Debian, Ubuntu: sudo apt-get install systemd)'
