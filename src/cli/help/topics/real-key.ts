/** `sallyport help real-key`: which key to make where, so that it can do no more than it must. */
import { defaultProfile } from '../../../governance/profile.js'

const { provider, gateway, codehost } = defaultProfile

/** Text of the topic. */
export const realKeyTopic = `Real keys

A key is read from a file (--x-file FILE, - for stdin) or typed at a form, never
given on the line. It is stored sealed, identifies an account and allows nothing
by itself: what may be sent, each consent and each approval says. Give it as
little as it needs, and an end.

Text provider (${provider.base_url}) and
gateway (${gateway?.base_url ?? 'none'}): a key of its own for this
state, with a spending limit set there, too.
  $ sallyport alpha setup
  $ sallyport gateway setup

Code host (${codehost?.base_url ?? 'none'}): a fine-grained personal access token
  Resource owner       the owner of the repository
  Repository access    only this one repository
  Contents             read and write: objects and new branches
  Pull requests        read and write: opening them
  Issues               read and write: issues and comments
  Metadata             read: the host adds it by itself
  Workflows            none: changed files below .github/workflows are refused
                       here anyway
  Expiration           a short one
Leave out Contents and Pull requests where only issues and comments are written.
The host tells nothing of what a fine-grained token may do; of a classic one it
tells the scopes, and codehost consent shows them. A classic token reaches every
repository of its account: use none.
  $ sallyport codehost connect
  $ sallyport codehost consent ID

Which host is reached is sealed by the profile (help profile). A profile that
names it reaches the data residency of an enterprise:
  "codehost": { "base_url": "https://api.NAME.ghe.com" }
A server of your own is out of reach. Its interface lies below a path (/api/v3),
where a base has none. Its certificate is mostly signed by a root of its own,
which is trusted for loopback hosts alone. Nothing can add to the roots that
Node brings.
`
