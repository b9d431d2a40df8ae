import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { start } from '../../../src/browser/client.ts'
import { ErrorBoundary, rootHandlers } from '../../../src/browser/react/error-boundary.ts'

const client = start({ endpoint: '/client_errors', app_version: '1.4.0', console: true })
window.client = client

function Price({ value }) {
  if (value === null) throw new TypeError('the price is gone')
  return <p>{value} Euro</p>
}

function Cart(props) {
  return (
    <section>
      <Price {...props} />
    </section>
  )
}

function Crash({ value }) {
  throw value
}

function Shop() {
  const [broken, setBroken] = useState('')
  const fallback = ({ error, reset }) => (
    <p>
      Sorry: {error.message}
      <button
        type="button"
        id="again"
        onClick={() => {
          setBroken('')
          reset()
        }}
      >
        Again
      </button>
    </p>
  )
  return (
    <main>
      {['break', 'silent', 'crash', 'text'].map((name) => (
        <button type="button" key={name} id={name} onClick={() => setBroken(name)}>
          {name}
        </button>
      ))}
      <ErrorBoundary client={client} fallback={fallback}>
        <Cart value={broken === 'break' ? null : 9} />
      </ErrorBoundary>
      <div id={broken === 'silent' ? 'gone' : 'there'}>
        <ErrorBoundary client={client}>{broken === 'silent' && <Price value={null} />}</ErrorBoundary>
      </div>
      {broken === 'crash' && <Crash value={new Error('not handled')} />}
      {broken === 'text' && <Crash value="not handled text" />}
    </main>
  )
}

createRoot(document.getElementById('root'), rootHandlers(client)).render(<Shop />)
