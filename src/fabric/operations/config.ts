import { configShow } from '../configuration-contract.js'
import { readConfiguration } from '../configuration.js'
import { operation } from '../operation.js'

/** How the models are set up. */
export const config = {
  show: operation(configShow, 'read', ({ gov, session }) => readConfiguration(gov, session)),
}
