import { catalogue } from '../../languages/catalogue.ts';

export const formPostSentences = catalogue(
  { title: 'Continue to {place}', heading: 'One moment', lead: 'You are on your way to {place}.' },
  {
    de: { title: 'Weiter zu {place}', heading: 'Einen Moment', lead: 'Sie sind unterwegs zu {place}.' },
    fr: { title: 'Continuer vers {place}', heading: 'Un instant', lead: 'Vous êtes en route vers {place}.' },
    es: { title: 'Continuar a {place}', heading: 'Un momento', lead: 'Está de camino a {place}.' },
    pt: { title: 'Continuar para {place}', heading: 'Um momento', lead: 'Você está a caminho de {place}.' },
    pl: { title: 'Przejdź do {place}', heading: 'Chwileczkę', lead: 'Trwa przejście do {place}.' },
    ja: { title: '{place} に進む', heading: '少々お待ちください', lead: '{place} に移動しています。' },
    'zh-Hans': { title: '前往 {place}', heading: '请稍候', lead: '正在前往 {place}。' },
    ar: { title: 'المتابعة إلى {place}', heading: 'لحظة من فضلك', lead: 'أنت في طريقك إلى {place}.' },
  },
);
