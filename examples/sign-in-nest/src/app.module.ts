import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Module,
  UseGuards,
} from '@nestjs/common'

interface SessionRequest {
  headers: Record<string, string | string[] | undefined>
}

const sessions = new Map([
  ['s-anna', { name: 'Anna', isOperator: true }],
  ['s-ben', { name: 'Ben', isOperator: false }],
])

/** Finds the user of a session, for the guard and for the dashboard. */
@Injectable()
export class Sessions {
  find({ headers }: SessionRequest) {
    const id = /(?:^|;\s*)session=([\w-]+)/.exec(String(headers.cookie ?? ''))?.[1]
    return sessions.get(id ?? '') ?? null
  }
}

@Injectable()
class SessionGuard implements CanActivate {
  @Inject(Sessions) private readonly sessions!: Sessions

  canActivate(context: ExecutionContext): boolean {
    return this.sessions.find(context.switchToHttp().getRequest<SessionRequest>()) !== null
  }
}

@Controller('orders')
@UseGuards(SessionGuard)
class OrdersController {
  @Get()
  find(): string[] {
    throw new Error('Could not load orders')
  }
}

@Module({ controllers: [OrdersController], providers: [Sessions] })
export class AppModule {}
