package corpus

import (
	"math/rand"
	"strings"
)

// vocabulary holds the words of one language, the most frequent first.
type vocabulary struct {
	words []string
	sep   string // between words
	end   string // of a sentence
}

var english = vocabulary{sep: " ", end: ". ", words: append(strings.Fields(`the to and a of is in it for that you with on this be we not as are can from
 file have will test if run use error should by was your code but when an at all function new there which add check one so build now line
 value config data server same need also make first fix return user after then name set only before call read write path into key list
 change output request version update table query log time session message module package start stop branch merge commit cache
 deploy retry timeout thread memory disk network token model prompt agent tool command shell script parser index search filter`), coined(english30k, 30000, latinSyllables, 2, 4)...)}

var korean = vocabulary{sep: " ", end: ". ", words: append(strings.Fields(`그리고 파일을 확인해 주세요 오류가 지금 서버에 다시 실행 결과를 데이터 설정을 테스트 코드를 수정 사용자 요청
 메시지를 검색 함수에서 변경 로그 저장소 브랜치 병합 커밋 메모리 네트워크 시간 초과 재시도 버전 업데이트 패키지 모듈 환경 변수 경로 목록 응답 처리 상태 연결
 캐시 삭제 추가 생성 확인했습니다 문제가 있습니다 해결 방법 설명 부탁드립니다 감사합니다 작업 완료 진행 중입니다`), coined(korean4k, 4000, strings.Fields(`가 나 다 라 마 바 사 아 자 차 카 타 파 하 거 너 더 러 머 버
 서 어 저 처 커 터 퍼 허 고 노 도 로 모 보 소 오 조 초 코 토 포 호 구 누 두 루 무 부 수 우 주 추 쿠 투 푸 후 기 니 디 리 미 비 시 이 지 치 키 티 피 히 간 난 단
 란 만 반 산 안 잔 찬 한 강 낭 당 랑 망 방 상 앙 장 창 항 공 농 동 롱 몽 봉 송 옹 종 총 홍 국 눅 둑 묵 북 숙 욱 죽 축 훅`), 2, 4)...)}

var chinese = vocabulary{sep: "", end: "。", words: append(strings.Fields(`我们 可以 这个 文件 一个 服务器 运行 错误 请 检查 代码 数据 配置 需要 测试 现在 函数 消息 用户 请求 返回 使用 更新
 版本 日志 时间 内存 网络 缓存 搜索 索引 查询 连接 超时 重试 分支 合并 提交 模块 路径 列表 结果 问题 解决 方法 谢谢 完成 任务 正在 处理`), coined(chinese3k, 3000, strings.Fields(`天 地 人 大 小 中 国 上 下 左 右 前 后 水 火 山 石
 田 土 日 月 年 时 分 秒 心 手 口 目 耳 足 走 来 去 出 入 开 关 门 车 马 牛 羊 鱼 鸟 风 云 雨 雪 花 草 木 林 金 银 铜 铁 书 画 文 字 语 言 说 话 听 见 看 想 知 道`), 2, 3)...)}

var japanese = vocabulary{sep: "", end: "。", words: append(strings.Fields(`ファイルを 確認して ください サーバーの エラーが 実行 します テスト コードを 修正 した ので データ 設定を 変更
 ユーザー リクエスト メッセージ 検索 結果 ありがとう ございます ログ 時間 メモリ ネットワーク キャッシュ ブランチ マージ バージョン 更新 が必要 です これは それから もう一度 お願いします`), coined(japanese3k, 3000, strings.Fields(`あ い う え お か き く け こ さ し す
 せ そ た ち つ て と な に ぬ ね の は ひ ふ へ ほ ま み む め も や ゆ よ ら り る れ ろ わ を ん ア イ ウ エ オ カ キ ク ケ コ サ シ ス セ ソ タ チ ツ テ ト`), 2, 4)...)}

var thai = vocabulary{sep: "", end: " ", words: append(strings.Fields(`กรุณา ตรวจสอบ ไฟล์ เซิร์ฟเวอร์ ข้อผิดพลาด ทดสอบ โค้ด ข้อมูล ตั้งค่า ผู้ใช้ ข้อความ ค้นหา ผลลัพธ์ ขอบคุณ
 เวลา หน่วยความจำ เครือข่าย อัปเดต เวอร์ชัน ต้องการ แก้ไข เรียบร้อย กำลัง ดำเนินการ`), coined(thai1k, 1000, strings.Fields(`กา มา นา ตา ปา ลา วา สา หา ยา กี มี นี ตี ปี ลี สี หี
 กู มู นู ตู ปู ลู สู หู ยู โก โม โน โต โป โล โส โห เก เม เน เต เป เล เส เห`), 2, 4)...)}

// Seeds of the coined words; words must not depend on anything else.
const (
	english30k = iota + 1
	korean4k
	chinese3k
	japanese3k
	thai1k
)

var latinSyllables = strings.Fields(`ba be bi bo bra ca ce chi co cra da de di do dra el en er fa fe fi flo ga ge gi gra ha he hi ho in ja je jo ka ke ki ko la le
 li lo lu ma me mi mo na ne ni no or pa pe pi plo ra re ri ro ru sa se si so sta ta te ti to tra un va ve vi vo wa we xi ya ze zo`)

// coined makes n words of least to most syllables.
func coined(seed int64, n int, syllables []string, least, most int) []string {
	r := rand.New(rand.NewSource(seed))
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range least + r.Intn(most-least+1) {
			b.WriteString(syllables[r.Intn(len(syllables))])
		}
		out[i] = b.String()
	}
	return out
}

// topics are words that come together in a conversation.
var topics = [][]string{
	strings.Fields("docker deployment container image registry compose volume 배포 容器 部署"),
	strings.Fields("kubernetes cluster pod ingress namespace helm rollout 클러스터 集群"),
	strings.Fields("postgres migration schema transaction vacuum replica 마이그레이션 数据库"),
	strings.Fields("python traceback virtualenv pytest asyncio pandas 파이썬"),
	strings.Fields("golang goroutine channel mutex context interface 고루틴"),
	strings.Fields("billing invoice refund subscription customer currency 결제 請求書"),
	strings.Fields("typescript webpack react component hook render 컴포넌트"),
	strings.Fields("terraform provider state plan apply drift 인프라"),
	strings.Fields("telegram webhook bot callback keyboard chat-send 텔레그램"),
	strings.Fields("security certificate oauth login password audit 보안 証明書"),
	strings.Fields("vector embedding retrieval chunk similarity recall 임베딩"),
	strings.Fields("report quarter revenue forecast spreadsheet chart 보고서 報告書"),
	strings.Fields("travel flight hotel itinerary visa passport 여행 旅行"),
	strings.Fields("recipe kitchen oven garlic noodles dinner 요리"),
	strings.Fields("release changelog artifact pipeline rollback hotfix 릴리스"),
	strings.Fields("latency throughput profile benchmark allocation flamegraph 성능"),
}
