/**
 * The assertions of tests, which stand for tap's own types (`paths` in tsconfig.json): what may
 * pass whatever happens is no assertion here, under whatever name it is called. A promise is
 * awaited before it is compared, a value that is always true is not asked for, an error is named,
 * and nothing compares loosely (`same` takes 1 for '1', `match` of an object 'abc' for 'a').
 */
import type { MessageExtra, TestBase } from '@tapjs/core'
import type EventEmitter from 'node:events'

/** What stands in the place of a type that no assertion takes; its text is in the error. */
interface Refused<Why extends string> {
  readonly [refused]: Why
}
declare const refused: unique symbol

type IsAny<T> = 0 extends 1 & T ? true : false

/** A value that is there now; a promise, or what may be one, is refused. */
type Settled<T> = IsAny<T> extends true ? T
  : [Extract<T, PromiseLike<unknown>>] extends [never] ? T : Refused<'a promise: await it first'>

/** What may be true or not. */
type Asked<T> = IsAny<T> extends true ? T
  : [T] extends [never] ? T
    : [T] extends [object] ? Refused<'an object is always true: compare it'> : Settled<T>

type Text = string | RegExp

/** Says which error it is. */
type Named =
  | RegExp
  | { readonly [other: string]: unknown } & (
    | { readonly message: Text } | { readonly name: Text }
    | { readonly code: Text | number } | { readonly kind: string } | { readonly cause: object })

/** An assertion about a value that is there. */
type About = <T>(found: Settled<T>, wanted: unknown, ...more: MessageExtra) => boolean

interface Emitting {
  emits(emitter: EventEmitter | EventTarget, event: string, ...more: MessageExtra): Promise<void>
}

/** What tests say; see tap's own documents. */
export interface Assertions extends Emitting {
  ok<T>(found: Asked<T>, ...more: MessageExtra): boolean
  notOk<T>(found: Asked<T>, ...more: MessageExtra): boolean
  equal: About
  not: About
  strictSame: About
  strictNotSame: About
  hasStrict: About
  notHasStrict: About
  /** Of a text. */
  match<T>(found: Settled<T>, wanted: Text, ...more: MessageExtra): boolean
  notMatch<T>(found: Settled<T>, wanted: Text, ...more: MessageExtra): boolean
  matchStrict: About
  notMatchStrict: About
  matchOnlyStrict: About
  notMatchOnlyStrict: About
  type<T>(
    found: Settled<T>, wanted: string | (abstract new (...args: never) => unknown),
    ...more: MessageExtra
  ): boolean
  throws<T>(fn: () => Settled<T>, wanted: Named | Error, ...more: MessageExtra): boolean | Error
  doesNotThrow<T>(fn: () => Settled<T>, ...more: MessageExtra): boolean | Error
  rejects(
    promise: Promise<unknown> | (() => Promise<unknown>), wanted: Named | Error,
    ...more: MessageExtra
  ): Promise<boolean | Error>
  resolves(
    promise: Promise<unknown> | (() => Promise<unknown>), ...more: MessageExtra
  ): Promise<boolean | Error>
}

/** Tap's names, which its own declarations ask for. */
export interface AssertOptions {
  readonly compareOptions?: object
}
export type ThrowsArgs = [wanted: Named | Error, ...more: MessageExtra]
export declare const plugin: (t: TestBase, opts: AssertOptions) => Assertions
