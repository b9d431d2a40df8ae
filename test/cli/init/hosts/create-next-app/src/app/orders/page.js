export const dynamic = 'force-dynamic';

export default function Orders() {
  throw new Error('Could not load orders');
}
