export const dynamic = 'force-dynamic'

export default function Page() {
  async function act() {
    'use server'
    throw new Error('action is broken')
  }
  return (
    <form action={act}>
      <button type="submit">Go</button>
    </form>
  )
}
