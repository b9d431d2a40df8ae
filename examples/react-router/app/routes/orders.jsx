export function loader() {
  throw new Error('Could not load orders')
}

export default function Orders() {
  return <p>Orders</p>
}
