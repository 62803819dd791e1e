/** The headers in which proxies hand certificates on: what each writes, and what could be mistaken for it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCertificate } from '../../src/protocol/certificate.ts';
import { CERTIFICATE_FORMATS, CERTIFICATE_HEADERS } from '../../src/protocol/certificate-header.ts';
import { aCertificate, anAuthority } from '../support/certificates.ts';

const signer = await anAuthority();
const one = await aCertificate({ issuer: signer });
const escaped = encodeURIComponent(`${one.pem}\n`);
const chain = encodeURIComponent(`${one.pem}\n${signer.pem}\n`);
const base64 = one.der.toString('base64');
/** How AWS leaves it: `+`, `=` and `/` as they are. */
const safe = (text: string) => text.replaceAll('%2B', '+').replaceAll('%3D', '=').replaceAll('%2F', '/');

const thumbprintsIn = (format: (typeof CERTIFICATE_FORMATS)[number], value: string): string | undefined =>
  readCertificate(CERTIFICATE_HEADERS[format].read(value) ?? [])?.thumbprint;

test('RFC 8705 §6.5: each proxy is understood as it writes, and no other is taken for it', () => {
  const written = {
    nginx: [escaped, chain],
    haproxy: [base64],
    envoy: [
      `Hash=ab12;Cert="${escaped}";Subject="CN=client \\"x\\", O=y";URI=spiffe://a/b;URI=spiffe://a/c`,
      `By=spiffe://a;Cert="${escaped}";Chain="${chain}"`,
    ],
    aws_alb: [safe(escaped), safe(chain)],
    traefik: [base64, `${base64},${signer.der.toString('base64')}`, encodeURIComponent(base64)],
    rfc9440: [`:${base64}:`],
  };
  for (const format of CERTIFICATE_FORMATS) {
    for (const value of written[format])
      expect({ format, is: thumbprintsIn(format, value) }).toEqual({ format, is: one.thumbprint });
  }
  const wrong = {
    nginx: [base64, `${escaped}, ${escaped}`, `x${escaped}`, `${escaped}x`, '%', '-----BEGIN%20CERTIFICATE-----'],
    haproxy: [escaped, `${base64},${base64}`, `${base64}, ${base64}`, `:${base64}:`, '(null)', `${base64}AAAA`],
    envoy: [
      escaped,
      'Hash=ab12;Subject=""',
      // A client began the list, and the proxy went on.
      `Cert="${escaped}",Cert="${escaped}"`,
      `Hash=1,Cert="${escaped}"`,
      `Cert="${escaped}";Cert="${escaped}"`,
      `Cert="${chain}"`,
      `Cert="${escaped}`,
    ],
    aws_alb: [base64, `${escaped}, ${escaped}`],
    traefik: [`${base64},`, `${base64},x!`, Array.from({ length: 8 }, () => base64).join(',')],
    rfc9440: [base64, `:${base64}`, `:${base64}:, :${base64}:`, '::', ':!:'],
  };
  for (const format of CERTIFICATE_FORMATS) {
    for (const value of wrong[format])
      expect({ format, value, is: thumbprintsIn(format, value) }).toMatchObject({ is: undefined });
  }
});

test('RFC 8705 §3.1: x5t#S256 is the SHA-256 of the whole DER, and the chain comes with it', () => {
  const read = readCertificate(CERTIFICATE_HEADERS.envoy.read(`Cert="${escaped}";Chain="${chain}"`) ?? []);
  expect(read?.thumbprint).toBe(one.thumbprint);
  expect(read?.chain.map(({ raw }) => raw.equals(signer.der))).toEqual([true]);
});

test('changed bytes are another certificate or none, and never an error', () => {
  fc.assert(
    fc.property(fc.nat(one.der.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(3), (at, by, cut) => {
      const bytes = Buffer.from(one.der.subarray(0, one.der.length - cut));
      if (at < bytes.length) bytes[at]! ^= by;
      const read = readCertificate([bytes]);
      expect(read?.thumbprint).not.toBe(one.thumbprint);
      // Looked at as a request would.
      void [read?.x509.subjectAltName, read?.x509.keyUsage, read?.x509.validToDate];
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.constantFrom(...CERTIFICATE_FORMATS), (text, format) => {
      expect(thumbprintsIn(format, text)).toBeUndefined();
    }),
  );
});
