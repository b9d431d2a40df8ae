import { renderToString } from 'react-dom/server'
import { ServerRouter } from 'react-router'

export { handleError } from './faultboard.server.js'

export default function handleRequest(request, status, headers, context) {
  headers.set('content-type', 'text/html')
  const html = renderToString(<ServerRouter context={context} url={request.url} />)
  return new Response(`<!doctype html>${html}`, { status, headers })
}
