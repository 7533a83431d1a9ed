/**
 * The one maker of worlds for tests. A world begins as an empty place and grows by stages; each
 * stage stands on those that it needs, and the compiler says which:
 *
 *   const world = await World.in(t).sandbox().state().session().alpha()
 *
 * `sandbox` comes before `state`, because a state directory seals whom it may ever reach. What only
 * one test file needs is a stage of its own, added by `with`. A stage is loaded when it is used, so
 * that the test of one rule does not load the program. Everything goes when the test is over.
 */
import { systemClock, type Clock } from '../../src/base/clock.js'
import type { AlphaOptions, TextRoute } from './alpha.js'
import type { GatewayOptions, ModelRoute } from './gateway.js'
import type { Images, ImagesOptions } from './images.js'
import { placeOf, type Place, type PlaceOptions, type Teardown } from './place.js'
import type { Outside } from './sandbox.js'
import type { SignedIn } from './session.js'
import type { NewStore, Stateful, StateOptions, StoreOptions } from './state.js'
import type { SandboxOptions } from '../../src/sandbox/start.js'
import { stillClock, type StillClock } from '../support/clock.js'
import type { Texts } from './texts.js'

/** What every world has. */
export interface Placed<C extends Clock = Clock> {
  readonly place: Place
  /** Time of every run in this process, and of the store. */
  readonly clock: C
  /** Runs one line in this process. */
  readonly run: Place['run']
  /** The same with `--json`, which must succeed; gives the document. */
  readonly json: Place['json']
}

/** A state directory with an owner, at a time that stands still. */
export type StateWorld = Placed<StillClock> & Stateful
/** A set-up text capability, against the sandbox. */
export type AlphaWorld = Placed & Stateful & SignedIn & Outside & TextRoute
/** A general model route against the sandbox, its slots as far set up as the test said. */
export type GatewayWorld = Placed & Stateful & SignedIn & Outside & ModelRoute
/** Both. */
export type RoutesWorld = AlphaWorld & GatewayWorld
/** A folder of images and no route. */
export type ImageWorld = Placed & Stateful & SignedIn & Images
/** A folder of images with the route that may analyse them. */
export type AnalysisWorld = GatewayWorld & Images
/** The same, with stored analyses and a gateway that says what the test wants. */
export type TextWorld = AnalysisWorld & Texts

/** A stage: what it adds to a world that has what it needs. */
export type Stage<Needs, Adds> = (world: Needs, t: Teardown) => Adds | Promise<Adds>

/** Members of `added` come to be members of `world`; getters stay getters. */
const grown = <W extends object, A extends object>(world: W, added: A): W & A =>
  Object.defineProperties(world, Object.getOwnPropertyDescriptors(added)) as W & A

/** A world that grows; waiting for it gives it. */
export class World<W extends object> implements PromiseLike<W> {
  /** Where it lies, there at once. */
  readonly place: Place
  readonly #t: Teardown
  readonly #world: Promise<W>

  private constructor(t: Teardown, place: Place, world: Promise<W>) {
    this.place = place
    this.#t = t
    this.#world = world
  }

  /** An empty place in real time, or by this clock; `env` is added to that of every run. */
  static in<C extends Clock = Clock>(
    t: Teardown, options: PlaceOptions & { readonly clock?: C } = {},
  ): World<Placed<C>> {
    const clock = options.clock ?? (systemClock as C)
    const place = placeOf(t, { ...options, clock })
    const { run, json } = place
    return new World(t, place, Promise.resolve({ place, clock, run, json }))
  }

  /** An empty place whose clock stands still until the test moves it. */
  static still(t: Teardown, startMs?: number): World<Placed<StillClock>> {
    return World.in(t, { clock: stillClock(startMs) })
  }

  /** Goes through a stage of the test's own, and adds what it makes, if anything. */
  with<V extends object>(this: World<V>, stage: Stage<V, void>): World<V>
  with<V extends object, A extends object>(this: World<V>, stage: Stage<V, A>): World<V & A>
  with<V extends object>(this: World<V>, stage: Stage<V, object | void>): World<V> {
    const work = this.#world.then(async (world) => grown(world, await stage(world, this.#t) ?? {}))
    return new World(this.#t, this.place, work)
  }

  /** Provider and gateway over real TLS on loopback. */
  sandbox<V extends Placed>(
    this: World<V>, options: Partial<SandboxOptions> = {},
  ): World<V & Outside> {
    return this.with(async (world, t) => (await import('./sandbox.js')).outside(t, world, options))
  }

  /** A state directory that nobody has initialized, with its store open. */
  store<V extends Placed>(
    this: World<V>, options: StoreOptions = {},
  ): World<V & Stateful & NewStore> {
    return this.with(async (world, t) => (await import('./state.js')).store(t, world, options))
  }

  /** `init`: sealed for the sandbox where there is one. */
  state<V extends Placed>(this: World<V>, options: StateOptions = {}): World<V & Stateful> {
    return this.with(async (world, t) => (await import('./state.js')).state(t, world, options))
  }

  /** `login`: the first owner, without a passphrase. */
  session<V extends Placed & Stateful>(this: World<V>): World<V & SignedIn> {
    return this.with(async (world) => (await import('./session.js')).session(world))
  }

  /** The text capability, set up unless the options say otherwise. */
  alpha<V extends Placed & Stateful & SignedIn & Outside>(
    this: World<V>, options: AlphaOptions = {},
  ): World<V & TextRoute> {
    return this.with(async (world) => (await import('./alpha.js')).alpha(world, options))
  }

  /** The general model route: all slots, or those that the options name. */
  gateway<V extends Placed & Stateful & SignedIn & Outside>(
    this: World<V>, options: GatewayOptions = {},
  ): World<V & ModelRoute> {
    return this.with(async (world) => (await import('./gateway.js')).gateway(world, options))
  }

  /** A proof that a slot does what its purposes need. */
  proof<V extends Placed & ModelRoute>(this: World<V>, slot: string): World<V> {
    return this.with(async (world) => (await import('./gateway.js')).proof(world, slot))
  }

  /** A folder for images, empty, and ways to put files and rows there. */
  images<V extends Placed & Stateful & SignedIn>(
    this: World<V>, options: ImagesOptions = {},
  ): World<V & Images> {
    return this.with(async (world) => (await import('./images.js')).images(world, options))
  }

  /** Stored analyses behind the rows, and a gateway that says what the test wants. */
  texts<V extends GatewayWorld & Images>(this: World<V>): World<V & Texts> {
    return this.with(async (world) => (await import('./texts.js')).texts(world))
  }

  then<A = W, B = never>(
    done?: ((world: W) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#world.then(done, failed)
  }
}
