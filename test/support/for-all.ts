/** Properties as assertions of the test that they stand in. */
import fc from 'fast-check'
import type { Test } from 'tap'
import { thisRun } from './slice.js'

/** Asserts that a property holds for whatever is made up; what breaks it is thrown, made small. */
export const forAll = <T>(
  t: Pick<Test, 'pass'>, property: fc.IPropertyWithHooks<T>, options?: fc.Parameters<T>,
): void => {
  fc.assert(property, options)
  t.pass('it holds for all that was made up')
}

/** The same of a property that has to be waited for. */
export const forAllWaited = async <T>(
  t: Pick<Test, 'pass'>, property: fc.IAsyncPropertyWithHooks<T>, options?: fc.Parameters<T>,
): Promise<void> => {
  await fc.assert(property, options)
  t.pass('it holds for all that was made up')
}

/** The short run tries one case in so many (scripts/tool/seeded-properties.js). */
const shortShare = 4

/** How many of so many cases this run tries of a property, for tests that count what came about. */
export const casesOf = (cases: number, isShort = thisRun().short): number =>
  isShort ? Math.ceil(cases / shortShare) : cases
