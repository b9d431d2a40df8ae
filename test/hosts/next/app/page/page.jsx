export const dynamic = 'force-dynamic'

export default async function Page() {
  throw new Error('page is broken')
}
