import { expect, onTestFinished, test } from 'vitest'
import { startHost } from '../../../support/host.js'

test('a row shows the environment of an error if it is not the one of this process', async () => {
  const host = await startHost('sqlite::memory:', { environment: 'production' })
  onTestFinished(() => host.close())
  for (const environment of ['production', 'staging']) {
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment })
  }
  const page = await (await host.get('/errors')).text()
  expect(page.match(/<tr[^>]* data-row/g)).toHaveLength(2)
  expect(page.match(/<span class="application">staging<\/span>/g)).toHaveLength(1)
  expect(page).not.toContain('<span class="application">production</span>')
})
