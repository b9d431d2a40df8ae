import { raw } from 'hono/html'
import { assetPath } from '../assets.js'
import type { Rendered, Visit } from '../define.js'

const NAVIGATION = [
  { path: '/overview', label: 'Overview' },
  { path: '/errors', query: '?unresolved=true&hide_snoozed=true', label: 'Errors' },
  { path: '/settings', label: 'Settings' },
] as const

/** A page in the frame that all pages share. */
export function pageDocument(title: string, content: Rendered, visit: Visit): Rendered {
  return (
    <Document title={title} base={visit.base}>
      <header class="bar">
        <a class="brand" href={`${visit.base}/overview`}>
          Faultboard
        </a>
        <nav aria-label="Main">
          {NAVIGATION.map(({ path, label, ...link }) => (
            <a
              href={`${visit.base}${path}${'query' in link ? link.query : ''}`}
              aria-current={visit.path.startsWith(path) ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        <span class="who">{visit.user}</span>
      </header>
      <main>
        {visit.notice && (
          <p class="notice" role="status">
            {visit.notice}
          </p>
        )}
        {content}
      </main>
    </Document>
  )
}

const WORDS: Record<number, string> = {
  401: 'Sign in',
  403: 'Refused',
  404: 'Not found',
  413: 'Too large',
  422: 'That does not fit',
  503: 'The database cannot be used',
}

/** The same frame for what went wrong; before the sign-in it shows nothing of what is behind it. */
export function errorDocument(status: number, sentence: string, visit: Visit): Rendered {
  const title = WORDS[status] ?? 'Something went wrong'
  const content = (
    <section class="wrong">
      <h1>{title}</h1>
      <p class="sentence">{sentence}</p>
      {visit.user && (
        <p>
          <a href={`${visit.base}/errors?unresolved=true&hide_snoozed=true`}>Back to the errors</a>
        </p>
      )}
    </section>
  )
  if (visit.user) return pageDocument(title, content, { ...visit, notice: null })
  return (
    <Document title={title} base={visit.base} bare>
      <main>{content}</main>
    </Document>
  )
}

function Document({
  title,
  base,
  bare,
  children,
}: {
  title: string
  base: string
  bare?: boolean
  children?: Rendered
}): Rendered {
  return (
    <>
      {raw('<!doctype html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="robots" content="noindex" />
          <link rel="icon" href="data:," />
          <title>{`${title} · Faultboard`}</title>
          {/* Assets lie behind the sign-in too, so a visitor who is not signed in is given none. */}
          {!bare && <link rel="stylesheet" href={`${base}${assetPath('dashboard.css')}`} />}
          {!bare && <script src={`${base}${assetPath('dashboard.js')}`} defer />}
        </head>
        <body>{children}</body>
      </html>
    </>
  )
}
