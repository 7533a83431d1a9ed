/**
 * Every command. Only the module of the verb that was named is loaded; help, completions and man
 * pages load all of them.
 */
import type { CommandTable } from '../entry.js'
import { alphaNoun } from './alpha/noun.js'
import { completionVerb } from './completion/noun.js'
import { configNoun } from './config/noun.js'
import { doctorVerb } from './doctor/noun.js'
import { gatewayNoun } from './gateway/noun.js'
import { goalNoun } from './goal/noun.js'
import { helpVerb } from './help/noun.js'
import { initVerb } from './init/noun.js'
import { ledgerNoun } from './ledger/noun.js'
import { loginVerb } from './login/noun.js'
import { logoutVerb } from './logout/noun.js'
import { policyNoun } from './policy/noun.js'
import { principalNoun } from './principal/noun.js'
import { sandboxNoun } from './sandbox/noun.js'
import { sessionNoun } from './session/noun.js'
import { shotsNoun } from './shots/noun.js'
import { stateNoun } from './state/noun.js'
import { demoVerb } from './demo/noun.js'
import { statusVerb } from './status/noun.js'
import { taskNoun } from './task/noun.js'

/** Nouns and verbs in the order in which help lists them. */
export const commands: CommandTable = [
  initVerb,
  loginVerb,
  logoutVerb,
  sessionNoun,
  principalNoun,
  goalNoun,
  alphaNoun,
  gatewayNoun,
  shotsNoun,
  configNoun,
  taskNoun,
  policyNoun,
  ledgerNoun,
  statusVerb,
  stateNoun,
  sandboxNoun,
  demoVerb,
  doctorVerb,
  completionVerb,
  helpVerb,
]
