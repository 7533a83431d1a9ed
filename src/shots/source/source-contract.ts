/** What goes into the settings of the screenshots and what comes out. */
import { contract } from '../../base/contract.js'
import { shotsConfigShape } from './config.js'
import { settingsChangeShape } from './settings.js'

/** Showing the settings, or saving a change of them; null unsets. */
export const shotsConfig = contract({
  name: 'shots.config',
  input: settingsChangeShape,
  output: shotsConfigShape,
})

/** Saving a change of the settings, or filling them in at a terminal. */
export const shotsSetup = contract({
  name: 'shots.setup',
  document: 'shots.config',
  input: settingsChangeShape,
  output: shotsConfigShape,
})
