import { moneyText } from '../../../base/money.js'
import type { ShotsConfig } from '../../../shots/source/config.js'
import { amountCell } from '../../amount.js'
import type { View } from '../../output.js'
import { visibleLine } from '../../text.js'

const line = (name: string, value: string): string => `${name.padEnd(30)}${value}`

const folderLines = ({ folder }: ShotsConfig, view: View): string[] => {
  const path = folder.screenshot_folder
  const shown = path === null ? 'none can be used' : visibleLine(view.foreign(path))
  const problem = folder.problem === null ? '' : `  ${view.paint('yellow', folder.problem)}`
  return [line('screenshot_folder', `${shown} (${folder.configuration_source})${problem}`)]
}

const gatewayLines = ({ gateway }: ShotsConfig, view: View): string[] => {
  if (gateway === null) return [`gateway: not set up: ${view.command('gateway setup')}`]
  const reason = gateway.reason_code === null ? '' : ` (${gateway.reason_code})`
  return [
    `gateway: ${gateway.status}${reason}; key ${gateway.key_present ? 'stored' : 'missing'}, `
      + `ceiling ${moneyText(gateway.spend_ceiling_microusd)}`,
    ...gateway.slots.map((slot) => {
      const consents = slot.purposes
        .map(({ purpose, consent_current: current }) => `${purpose} ${current ? 'yes' : 'no'}`)
      return `  ${slot.slot}: ${slot.model ?? 'no model'}; upstream `
        + `${slot.upstream_allow.join(', ') || 'none'}; consent ${consents.join(', ')}; `
        + `proof ${slot.capability_proof}`
    }),
  ]
}

const valueText = (
  name: string, value: ShotsConfig['settings'][string]['value'], view: View,
): string => {
  if (name.endsWith('microusd') && typeof value === 'number') return amountCell(view, value)
  if (value === null) return 'not set'
  return Array.isArray(value) ? value.join(' ') || 'none' : String(value)
}

/** Settings for people: name, value in force, source. */
export const configText = (config: ShotsConfig, view: View): string => {
  const settings = Object.entries(config.settings).map(([name, one]) =>
    line(name, `${valueText(name, one.value, view)} (${one.source})`))
  const invalid = config.invalid_variables
    .map((name) => view.paint('yellow', `${name} has no valid value; its job refuses to run`))
  const lines = [
    ...folderLines(config, view), ...settings, ...invalid, ...gatewayLines(config, view),
  ]
  return `${lines.join('\n')}\n`
}
