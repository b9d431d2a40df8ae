import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { withFaultboard } from '../../adapters/node.js'
import type { TrackerInstance } from '../../tracker.js'
import type { FailingRoute } from './failing-routes.js'

/** A small `node:http` application whose routes fail, with the dashboard mounted. */
export function sampleApp(tracker: TrackerInstance, routes: readonly FailingRoute[]): RequestListener {
  const { mount_path } = tracker.config
  const listener = withFaultboard((request, response) => route(request, response, tracker, routes), tracker)
  return async (request, response) => {
    try {
      await listener(request, response)
    } catch (error) {
      // The error is already recorded; the response is up to the host.
      sendPage(response, 500, <Failed error={error} mount_path={mount_path} />)
    }
  }
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  tracker: TrackerInstance,
  routes: readonly FailingRoute[],
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host')
  Object.assign(request, { query: Object.fromEntries(searchParams) })
  if (pathname === '/') return sendPage(response, 200, <Home mount_path={tracker.config.mount_path} routes={routes} />)
  if (pathname === '/style.css') return send(response, 200, 'text/css', STYLE)
  const failing = routes.find(({ link }) => link.split('?')[0] === pathname)
  if (!failing) return sendPage(response, 404, <NotFound />)
  tracker.setUser('ada')
  tracker.setTags({ region: 'eu-west' })
  for (const [category, message] of failing.steps) tracker.addBreadcrumb({ category, message })
  await failing.run()
}

type Rendered = ReturnType<typeof Home>

function sendPage(response: ServerResponse, status: number, page: Rendered): void {
  send(response, status, 'text/html', `<!doctype html>${page}`)
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Security-Policy': "default-src 'none'; style-src 'self'",
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(body)
}

function Home({ mount_path, routes }: { mount_path: string; routes: readonly FailingRoute[] }) {
  return (
    <Page title="Faultboard is running">
      <p>
        Open the <a href={mount_path}>dashboard</a>, or trigger an error first and watch it arrive:
      </p>
      <ul>
        {routes.map(({ link, text }) => (
          <li>
            <a href={link}>
              <code>{link}</code>
            </a>{' '}
            {text}
          </li>
        ))}
      </ul>
    </Page>
  )
}

function Failed({ error, mount_path }: { error: unknown; mount_path: string }) {
  return (
    <Page title="This page failed on purpose">
      <p>
        <code>{String(error)}</code>
      </p>
      <p>
        It was recorded: see it in the <a href={`${mount_path}/errors`}>dashboard</a>, or go <a href="/">back</a>.
      </p>
    </Page>
  )
}

function NotFound() {
  return (
    <Page title="Not found">
      <p>
        This page does not exist. Go <a href="/">back</a>.
      </p>
    </Page>
  )
}

function Page({ title, children }: { title: string; children: Rendered }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <h1>{title}</h1>
        {children}
      </body>
    </html>
  )
}

const STYLE = `:root { color-scheme: light dark; }
body { font: 16px/1.6 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
li { margin: 0.4rem 0; }
code { font-size: 0.9em; }
`
