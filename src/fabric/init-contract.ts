/** What goes in and comes out of making a state directory. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject } from '../base/schema.js'
import type { DeploymentProfile } from '../governance/profile.js'
import type { Goal, Principal } from '../governance/rows.js'
import type { SharedHere } from './machines/machines-contract.js'

const initShape = v.strictObject({
  state_dir: v.string(),
  store_id: v.string(),
  owner: v.string(),
  principal_id: v.string(),
  goal_id: v.string(),
  profile: v.string(),
  provider: v.strictObject({ name: v.string(), base_url: v.string(), model_id: v.string() }),
  gateway_base_url: v.nullable(v.string()),
  workspace: v.string(),
  /** Where a state lies that machines share, and what this one is called; else left out. */
  shared: v.optional(v.strictObject({
    place: v.string(), machine: v.string(), machine_id: v.string(),
  })),
})
/** A new state directory, its owner and what was sealed. */
export type InitDocument = v.InferOutput<typeof initShape>

/** What making a state directory gave. */
interface MadeState {
  readonly store: { readonly dir: string; readonly storeId: string }
  /** Of a state that several machines share. */
  readonly shared: SharedHere | null
  readonly principal: Principal
  readonly goal: Goal
  readonly profile: DeploymentProfile
}

/** Making the state directory; the profile is a file of its own, read strictly. */
export const stateInit = contract({
  name: 'init',
  input: closedObject({
    owner: v.optional(v.string()),
    passphrase: v.optional(v.string()),
    workspace: v.optional(v.string()),
  }),
  output: initShape,
  toDocument: ({ store, shared, principal, goal, profile }: MadeState) => ({
    state_dir: store.dir,
    store_id: store.storeId,
    owner: principal.name,
    principal_id: principal.principal_id,
    goal_id: goal.goal_id,
    profile: profile.name,
    provider: profile.provider,
    gateway_base_url: profile.gateway?.base_url ?? null,
    workspace: profile.workspace,
    ...(shared === null ? {} : {
      shared: { place: shared.place, machine: shared.machineName, machine_id: shared.machineId },
    }),
  }),
})
