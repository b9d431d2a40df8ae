import 'reflect-metadata'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Module } from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import fastify from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { dashboard } from '../../src/adapters/express.js'
import { faultboard } from '../../src/adapters/fastify.js'
import { faultboard as nestDashboard } from '../../src/adapters/nest.js'
import { withFaultboard } from '../../src/adapters/node.js'
import { TrackerInstance } from '../../src/tracker.js'
import { temporaryFolder } from '../support/tracker.js'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Starts a tracker that serves the dashboard, and returns its lines on standard error. */
function startedTracker(settings = {}, env: NodeJS.ProcessEnv = {}) {
  const lines: string[] = []
  const credentials = { dashboard_username: 'admin', dashboard_password: 'secret', database: 'sqlite::memory:' }
  const tracker = new TrackerInstance({ ...credentials, ...settings }, { env, write: (line) => lines.push(line) })
  cleanups.push(() => tracker.shutdown())
  return { tracker: tracker.startDashboard(), lines }
}

async function startListening(server: Server, target: number | string = 0): Promise<number> {
  cleanups.push(() => new Promise((closed) => server.close(closed)))
  await new Promise<void>((done) => server.listen(target, done))
  return (server.address() as AddressInfo).port
}

/** Express 4 and 5 mount routers in different ways. */
const EXPRESS = { 'Express 4': createRequire(import.meta.url)('express4') as typeof express, 'Express 5': express }
const URL_HINT = ' (unless your application uses another port or a path prefix)'
const PATH_HINT = ' (below the prefix of its router, if it has one)'

describe('The URL of the dashboard', () => {
  test.each(Object.entries(EXPRESS))(
    'the printed URL is that of the server with the dashboard, for %s',
    async (_, framework) => {
      const { tracker, lines } = startedTracker()
      await startListening(createSocketServer() as Server)
      await startListening(createServer(framework().get('/metrics', () => {})))
      expect(lines).toEqual([])
      const port = await startListening(createServer(framework().use(dashboard(tracker))))
      await startListening(createServer(() => {}))
      expect(lines).toEqual([`[faultboard] Dashboard: http://localhost:${port}/error_dashboard\n`])
    },
  )

  test.each(Object.entries(EXPRESS))(
    'the printed URL has a hint if the dashboard may be below a prefix, as in a router of %s',
    async (_, framework) => {
      const { tracker, lines } = startedTracker()
      const router = framework.Router().use(dashboard(tracker))
      const port = await startListening(createServer(framework().use('/admin', router)))
      await expect
        .poll(() => lines)
        .toEqual([`[faultboard] Dashboard: http://localhost:${port}/error_dashboard${URL_HINT}\n`])
    },
  )

  test('the printed URL has a hint about another port if an unknown server listens long before the application', async () => {
    const { lines } = startedTracker()
    const port = await startListening(createServer(() => {}))
    await expect
      .poll(() => lines)
      .toEqual([`[faultboard] Dashboard: http://localhost:${port}/error_dashboard${URL_HINT}\n`])
    await startListening(createServer(() => {}))
    expect(lines).toHaveLength(1)
  })

  test('the printed URL contains the prefix of a Fastify plugin, even if another server listens long before', async () => {
    const { tracker, lines } = startedTracker()
    const app = fastify()
    app.register(async (inner) => inner.register(faultboard, { tracker, prefix: '/ops' }), { prefix: '/admin' })
    cleanups.push(() => app.close())
    await app.ready()
    await startListening(createServer(() => {}))
    await new Promise((resume) => setTimeout(resume, 700))
    expect(lines).toEqual([])
    await app.listen({ port: 0 })
    const { port } = app.server.address() as AddressInfo
    expect(lines).toEqual([`[faultboard] Dashboard: http://localhost:${port}/admin/ops/error_dashboard\n`])
    expect((await fetch(`http://localhost:${port}/admin/ops/error_dashboard`)).status).toBe(401)
  })

  test.each([
    ['Express', () => new ExpressAdapter()],
    ['Fastify', () => new FastifyAdapter()],
  ])('the printed URL is that of the NestJS server on %s', async (_, adapter) => {
    const { tracker, lines } = startedTracker()
    class AppModule {}
    Module({})(AppModule)
    const app = nestDashboard(
      await NestFactory.create(AppModule, adapter() as AbstractHttpAdapter, { logger: false }),
      tracker,
    )
    cleanups.push(() => app.close())
    await app.init()
    await startListening(createServer(() => {}))
    await app.listen(0)
    const { port } = app.getHttpServer().address() as AddressInfo
    expect(lines).toEqual([`[faultboard] Dashboard: http://localhost:${port}/error_dashboard\n`])
  })

  test('only a path is printed if several servers may serve the dashboard', async () => {
    const { lines } = startedTracker()
    for (let i = 0; i < 2; i++) await startListening(createServer(() => {}))
    await expect.poll(() => lines).toEqual([`[faultboard] Dashboard: /error_dashboard${PATH_HINT}\n`])
  })

  test('the URL is printed with the next request to a server that already listens', async () => {
    const server = createServer((_, response) => response.end())
    const port = await startListening(server)
    const { tracker, lines } = startedTracker()
    server.on(
      'request',
      withFaultboard(() => {}, tracker),
    )
    expect(lines).toEqual([])
    for (let i = 0; i < 2; i++) await fetch(`http://localhost:${port}/`, { headers: { connection: 'close' } })
    expect(lines).toEqual([`[faultboard] Dashboard: http://localhost:${port}/error_dashboard\n`])
  })

  test('the printed URL has the protocol of the server and the configured path', async () => {
    const { tracker, lines } = startedTracker({ mount_path: '/errors' })
    const port = await startListening(createSecureServer(withFaultboard(() => {}, tracker)))
    expect(lines).toEqual([`[faultboard] Dashboard: https://localhost:${port}/errors\n`])
  })

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::7', '[2001:db8::7]'],
    ['127.0.0.1', 'localhost'],
  ])('the printed URL has the address of a server that listens on %s only', async (address, host) => {
    const { tracker, lines } = startedTracker()
    const server = createServer(withFaultboard(() => {}, tracker))
    server.address = () => ({ address, family: '', port: 3000 })
    await startListening(server)
    expect(lines).toEqual([`[faultboard] Dashboard: http://${host}:3000/error_dashboard\n`])
  })

  test('the printed URL is the public URL if dashboard_base_url is set', async () => {
    const { lines } = startedTracker({ dashboard_base_url: 'https://ops.example/shop/' })
    await startListening(createServer(() => {}))
    expect(lines).toEqual(['[faultboard] Dashboard: https://ops.example/shop/error_dashboard\n'])
  })

  test('only a path is printed if the server uses a Unix socket', async () => {
    const { tracker, lines } = startedTracker()
    await startListening(createServer(withFaultboard(() => {}, tracker)), join(temporaryFolder(), 'host.sock'))
    expect(lines).toEqual(['[faultboard] Dashboard: /error_dashboard\n'])
  })

  test.each([
    ['in a test run', {}, { VITEST: 'true' }],
    ['in the second process of PM2', {}, { NODE_APP_INSTANCE: '1' }],
    ['if the tracker is turned off', { enabled: false }, {}],
  ])('the URL is not printed %s', async (_, settings, env) => {
    const { tracker, lines } = startedTracker(settings, env)
    await startListening(createServer(withFaultboard(() => {}, tracker)))
    expect(lines).toEqual([])
  })

  test('the URL is printed by one worker of a cluster', async () => {
    const folder = temporaryFolder()
    const program = join(folder, 'cluster.mjs')
    const entries = ['index.js', 'adapters/node.js'].map((name) => pathToFileURL(resolve('dist', name)).href)
    writeFileSync(
      program,
      `import cluster from 'node:cluster'
      import { createServer } from 'node:http'
      if (cluster.isPrimary) {
        let listening = 0
        for (let i = 0; i < 3; i++) cluster.fork()
        cluster.on('listening', () => { if (++listening === 3) cluster.disconnect() })
      } else {
        const { Tracker } = await import('${entries[0]}')
        const { withFaultboard } = await import('${entries[1]}')
        Tracker.configure({ dashboard_username: 'admin', dashboard_password: 'secret', database: 'sqlite::memory:' })
        createServer(withFaultboard(() => {})).listen(0)
      }`,
    )
    const { stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 25_000 })
    expect(stderr.match(/Dashboard: /g)).toHaveLength(1)
  })

  test('the URL is not printed after a shutdown', async () => {
    const { tracker, lines } = startedTracker()
    await tracker.shutdown()
    await startListening(createServer(() => {}))
    expect(lines).toEqual([])
  })
})
