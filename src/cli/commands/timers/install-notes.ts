/** What is said beside the timers that are about to be installed. */
import { existsSync } from 'node:fs'
import { devicePlaces } from '../../../edge/device/folder.js'
import { isGuarded } from '../../../fabric/launchd/guarded-folder.js'
import type { TimerJob } from '../../../fabric/timers/jobs.js'
import { timerStatus } from '../../../fabric/timers/timer-status.js'
import type { Scheduler } from '../../../fabric/timers/timers-contract.js'
import type { Gov } from '../../../governance/context.js'
import { isSettingVariable } from '../../../shots/constants.js'
import { savedSettings } from '../../../shots/source/settings.js'
import { deviceDirOf } from '../../own-folders.js'
import type { VerbDeps } from '../../verb.js'

/** Settings that only this terminal has: a timer starts without them. */
const localVariables = ({ env }: VerbDeps): readonly string[] => Object.keys(env)
  .filter(isSettingVariable).sort()

/** What is to be known of the service and of a daemon before a yes. */
export const tellOfStaying = (
  deps: VerbDeps, jobs: readonly TimerJob[], scheduler: Scheduler,
): void => {
  const has = (wanted: TimerJob['name']): boolean => jobs.some(({ name }) => name === wanted)
  if (scheduler === 'cron' && has('serve')) {
    deps.note('Cron starts the service with the machine alone. Until then: `sallyport serve`')
  }
  if (scheduler === 'cron' && has('edge')) {
    deps.note('Cron starts the daemon with the machine alone. Until then: `sallyport edge daemon`')
  }
  if (!has('edge')) return
  if (existsSync(devicePlaces(deviceDirOf(deps)).pairing)) return
  deps.note('This device is not paired, so its daemon will fail. First pair it with '
    + '`sallyport edge daemon --pair-file FILE`.')
}

/** What jobs of screenshots would lack. */
export const tellWhatLacks = (
  deps: VerbDeps, gov: Gov, jobs: readonly TimerJob[], scheduler: Scheduler,
): void => {
  if (!jobs.some(({ minutes }) => minutes !== null)) return
  const local = localVariables(deps)
  const { screenshot_folder: folder } = savedSettings(gov.store.read())
  if (folder === null) {
    deps.note('No folder is saved, so every run will fail. Save one with `sallyport shots setup`.')
  } else if (scheduler === 'launchd' && isGuarded(deps, folder)) {
    deps.note('macOS asks before a program reads that folder: allow Node in System Settings, '
      + 'Privacy & Security, or every run will fail.')
  }
  if (local.length > 0) {
    deps.note(`Set here and not for timers: ${local.join(', ')}. Save them with \`shots setup\`.`)
  }
  if (!jobs.some(({ name }) => name === 'analyze')) {
    deps.note('Analysis is off, so only the scan runs. After it is on, install them again.')
  } else if (timerStatus(gov).renew_proof !== true) {
    deps.note('A proof is stale after 24 h, and nothing is sent then. To let jobs renew it: '
      + '`sallyport shots setup --renew-proof on`')
  }
}
