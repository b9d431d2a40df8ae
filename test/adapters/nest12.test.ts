import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, test } from 'vitest'
import { faultboard } from '../../src/adapters/nest.js'
import { type AdapterHarness, adapterContract, testRoutes } from '../../src/testing/adapter.js'
import { isInstalled } from './host-process.js'

/** NestJS 11 and 12 cannot be installed in one folder. */
const require = createRequire(resolve('test/hosts/package.json'))

const harness: AdapterHarness = {
  async host(tracker) {
    const { NestFactory } = (await importFromHosts('@nestjs/core')) as typeof import('@nestjs/core')
    const { Controller, Get, Module } = (await importFromHosts('@nestjs/common')) as typeof import('@nestjs/common')
    class Routes {}
    for (const [path, run] of Object.entries(testRoutes(tracker))) {
      Object.defineProperty(Routes.prototype, path, { value: () => run() })
      Get(path)(Routes.prototype, path, Object.getOwnPropertyDescriptor(Routes.prototype, path) as PropertyDescriptor)
    }
    Controller()(Routes)
    class Application {}
    Module({ controllers: [Routes] })(Application)
    const app = faultboard(await NestFactory.create(Application, { logger: false }), tracker)
    await app.init()
    return { listener: app.getHttpAdapter().getInstance(), close: () => app.close() }
  },
}

if (!isInstalled('@nestjs/core')) test.skip('NestJS 12 (skipped: @nestjs/core is not installed in test/hosts)')
else
  describe('the NestJS 12 adapter', () => {
    for (const { title, run } of adapterContract(harness)) test(title, run)
  })

function importFromHosts(name: string): Promise<unknown> {
  return import(pathToFileURL(require.resolve(name)).href)
}
