/** What goes into the settings of the screenshots and what comes out. */
import { contract, noInput } from '../../base/contract.js'
import { shotsConfigShape, type ShotsConfig } from './config.js'
import { settingsChangeShape } from './settings.js'

/** Showing the settings, or saving a change of them; null unsets. */
export const shotsConfig = contract({
  name: 'shots.config',
  version: 1,
  input: settingsChangeShape,
  output: shotsConfigShape,
  toDocument: (config: ShotsConfig) => config,
})

/** Filling in the settings at a terminal. */
export const shotsSetup = contract({
  name: 'shots.setup',
  document: 'shots.config',
  version: 1,
  input: noInput,
  output: shotsConfigShape,
  toDocument: (config: ShotsConfig) => config,
})
