import { raw } from 'hono/html'
import { assetPath } from '../../assets.js'
import type { Destination, Rendered, Visit } from '../../define.js'
import { href, openErrors } from '../../href.js'
import { destinationOf } from './navigation.js'
import { Rail, TopBar } from './rail.js'
import { Shortcuts } from './shortcuts.js'

/** A page in the frame that all pages share. */
export function pageDocument(title: string, content: Rendered, visit: Visit): Rendered {
  return (
    <Document title={`${title} · ${nameOf(visit)}`} visit={visit}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <div class={visit.rail_folded ? 'frame folded' : 'frame'}>
        <TopBar visit={visit} />
        <Rail visit={visit} />
        <main id="content" tabindex={-1}>
          {visit.notice && (
            <p class="notice" role="status">
              {visit.notice}
            </p>
          )}
          {content}
        </main>
      </div>
      <Shortcuts />
      <div id="announcer" class="hidden" aria-live="polite" />
    </Document>
  )
}

/** Whose errors these are, as the tab of the browser names them. */
function nameOf({ applications, application_id, application_name }: Visit): string {
  if (application_id !== null) return applications.find(({ id }) => id === application_id)?.name ?? 'Faultboard'
  if (applications.length > 1) return 'All applications'
  return applications[0]?.name ?? (application_name || 'Faultboard')
}

const WORDS: Record<number, string> = {
  401: 'Sign in',
  403: 'Refused',
  404: 'Not found',
  413: 'Too large',
  422: 'That does not fit',
  429: 'Too many requests',
  503: 'The database cannot be used',
}

/** The same frame for what went wrong; before the sign-in it shows nothing of what is behind it. */
export function errorDocument(status: number, sentence: string, visit: Visit): Rendered {
  const title = WORDS[status] ?? 'Something went wrong'
  const content = (
    <section class="wrong">
      <h1>{title}</h1>
      <p class="sentence">{sentence}</p>
      {visit.user ? (
        <NextSteps status={status} visit={visit} />
      ) : (
        // Not where the visitor came from: an address of a stranger is repeated to nobody.
        status === 401 && <a href={`${visit.base}/overview`}>Try again</a>
      )}
    </section>
  )
  if (visit.user) return pageDocument(title, content, { ...visit, notice: null })
  return (
    <Document title={`${title} · Faultboard`} visit={visit} bare>
      <main>{content}</main>
    </Document>
  )
}

/** Where one goes from a page that could not be shown: to the error it was about, or to what says why. */
function NextSteps({ status, visit }: { status: number; visit: Visit }): Rendered {
  const error_id = /^\/errors\/(\d+)\/./.exec(visit.path)?.[1]
  const section = sectionOf(status, visit)
  return (
    <p class="page-tools">
      {section && (
        <a class="button primary" href={href(visit, section.path, section.query)}>
          {`Back to ${section.label}`}
        </a>
      )}
      {error_id && (
        <a class="button primary" href={href(visit, `/errors/${error_id}`)}>
          Back to this error
        </a>
      )}
      {status === 503 && (
        <a class="button primary" href={href(visit, '/health')}>
          See what is wrong
        </a>
      )}
      <a class="button" href={openErrors(visit)}>
        Back to the errors
      </a>
    </p>
  )
}

/** The page of the rail that the address lies below, unless that cannot be shown either. */
function sectionOf(status: number, visit: Visit): Destination | undefined {
  const { path, switches } = visit
  const section = destinationOf(visit)
  if (section?.path === '/errors' || (status !== 422 && section?.path === path)) return undefined
  return section?.needs?.every((option) => switches[option]) === false ? undefined : section
}

function Document({
  title,
  visit,
  bare,
  children,
}: {
  title: string
  visit: Visit
  bare?: boolean
  children?: Rendered
}): Rendered {
  return (
    <>
      {raw('<!doctype html>')}
      <html lang="en" data-theme={visit.theme === 'auto' ? undefined : visit.theme}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content={visit.theme === 'auto' ? 'light dark' : visit.theme} />
          <meta name="robots" content="noindex" />
          <link rel="icon" href={ICON} />
          <title>{title}</title>
          {/* Assets lie behind the sign-in too, so a visitor who is not signed in is given none. */}
          {!bare && <link rel="stylesheet" href={`${visit.base}${assetPath('dashboard.css')}`} />}
          {!bare && <script src={`${visit.base}${assetPath('dashboard.js')}`} defer />}
        </head>
        <body data-base={bare ? undefined : visit.base}>{children}</body>
      </html>
    </>
  )
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="20" height="20" rx="5" fill="#b4233c"/><path d="M4 11.5h3l2-6 3 9 2-6 .8 3H16" fill="none" stroke="#fff" stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round"/></svg>',
)}`
