/**
 * For the tests of an application: `createTestTracker` and `recordedErrors`. For extensions of Faultboard: contracts, each of
 * which returns test cases that any test runner can register.
 *
 * @example
 * import { test } from 'node:test'
 * import { adapterContract } from 'faultboard/testing'
 *
 * for (const { title, run } of adapterContract(harness)) test(title, run)
 */
export { type AdapterHarness, adapterContract, type TestHost, testRoutes } from './adapter.js'
export { type ChannelHarness, channelContract, type TestChannel } from './channel.js'
export type { ContractCase } from './contract.js'
export { type DatabaseHarness, databaseContract, type TestDatabase } from './database.js'
export { type JobEngineHarness, jobEngineContract, type TestJobEngine } from './job-engine.js'
export { createTestTracker, recordedErrors } from './test-tracker.js'
